# Python's mmap: shared and private, read and write, while the file is open by other means.
# needs: python3
# inputs: bin

python3 - <<'EOF'
import mmap, os
data = open("in/bin", "rb").read()
f = open("m", "w+b"); f.write(data[:300000]); f.flush()
m = mmap.mmap(f.fileno(), 0)
print(len(m), m[:10] == data[:10], m.find(data[250000:250020]))
m[1000:1008] = b"mapped!!"; f.seek(1000); print(f.read(8))
f.seek(2000); f.write(b"written"); f.flush(); print(m[2000:2007])
fd = os.open("m", os.O_RDONLY); print(os.pread(fd, 8, 1000)); os.close(fd)
m.flush(); m.resize(400000); m[399990:] = b"0123456789"; print(os.path.getsize("m")); m.close()
f.seek(399990); print(f.read()); f.write(b"after the map"); f.close()
print(os.path.getsize("m"))
with open("in/bin", "rb") as g, mmap.mmap(g.fileno(), 0, access=mmap.ACCESS_READ) as r:
    print(r[-5:] == data[-5:], r.size(), r.rfind(data[:8]))
with open("m", "r+b") as g:
    p = mmap.mmap(g.fileno(), 8192, access=mmap.ACCESS_COPY); p[:4] = b"priv"; print(g.read(4) == data[:4], p[:4]); p.close()
# A mapping outlives the descriptor.
g = open("late", "w+b"); g.truncate(10000); l = mmap.mmap(g.fileno(), 10000); g.close()
l[5000:5004] = b"late"; l.close(); print(open("late", "rb").read()[4999:5005])
s = open("fork", "w+b"); s.truncate(4096); x = mmap.mmap(s.fileno(), 4096)
if os.fork() == 0: x[0:5] = b"child"; os._exit(0)
os.wait(); print(x[:5], s.read(5))
EOF
cmp -n 1000 m in/bin && echo head-same
