# HDF5 by h5py: create, append, read back, chunked and compressed.
# needs: python3 python:h5py

python3 - <<'EOF'
import h5py, numpy as np
with h5py.File("a.h5", "w", libver="v108") as f:
    f.create_dataset("x", data=np.arange(50000, dtype="f8"))
    d = f.create_dataset("grow", (0, 100), maxshape=(None, 100), chunks=(64, 100), dtype="i4")
    for i in range(10):
        d.resize((i + 1) * 100, axis=0); d[i * 100:] = i
    f.create_dataset("packed", data=np.tile(np.arange(1000), 100), chunks=(5000,), compression="gzip", shuffle=True)
    f.create_group("g").attrs["name"] = "pond"
with h5py.File("a.h5", "r+") as f:
    f["x"][10:20] = -1; f["g/late"] = np.ones((300, 300), dtype="f4"); f["grow"].resize((1500, 100)); f["grow"][1400:] = 7
    f.flush(); del f["packed"]
with h5py.File("a.h5", "a") as f: f["appended"] = [b"one", b"two"]
with h5py.File("a.h5", "r") as f:
    print(sorted(f), f["x"][:].sum(), f["grow"][:].sum(), f["g"].attrs["name"], f["g/late"][:].sum(), list(f["appended"]))
for driver in ("sec2", "stdio", "core"):
    with h5py.File(driver + ".h5", "w", driver=driver) as f: f["x"] = np.arange(20000)
    print(driver, h5py.File(driver + ".h5", "r")["x"][:].sum())
np.save("n.npy", np.arange(100000).reshape(100, 1000)); print(np.load("n.npy").sum(), np.load("n.npy", mmap_mode="r")[7, 7])
np.savez("n.npz", a=np.ones(1000), b=np.zeros((10, 10))); print(sorted(np.load("n.npz").files))
np.arange(5000).tofile("raw"); print(np.fromfile("raw", dtype=int).sum()); np.savetxt("txt", np.eye(20)); print(np.loadtxt("txt").trace())
m = np.memmap("mm", dtype="f4", mode="w+", shape=(100, 100)); m[:] = 2; m.flush(); print(np.memmap("mm", dtype="f4", mode="r").sum())
EOF
# Times of day stand in the members' headers.
rm n.npz
