# Python's temporary files, unlinked ones among them.
# needs: python3

python3 - <<'EOF'
import os, tempfile
with tempfile.TemporaryFile(dir=".") as f:
    f.write(b"a" * 200000); f.seek(100000); print(len(f.read()))
with tempfile.NamedTemporaryFile("w+", dir=".", prefix="n-") as f:
    f.write("named"); f.flush(); print(open(f.name).read(), os.path.exists(f.name))
print([n for n in os.listdir(".") if n.startswith("n-")])
with tempfile.SpooledTemporaryFile(max_size=1000) as f:
    for i in range(500): f.write(b"%d\n" % i)
    f.seek(0); print(sum(int(l) for l in f))
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "x"); open(p, "w").write("in the directory"); print(open(p).read())
print(os.listdir("tmp"))
fd, p = tempfile.mkstemp(dir="."); os.write(fd, b"kept"); os.close(fd); os.replace(p, "kept"); print(open("kept").read())
with tempfile.NamedTemporaryFile(delete=False, dir=".") as f: f.write(b"%PDF" * 1000)
os.rename(f.name, "final"); print(os.path.getsize("final"))
# Written in a child, read after its end.
r = tempfile.TemporaryFile()
if os.fork() == 0:
    os.write(r.fileno(), b"child's bytes"); os._exit(0)
os.wait(); r.seek(0); print(r.read())
EOF
