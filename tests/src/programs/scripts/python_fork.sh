# fork: shared offsets, exec with inherited descriptors, a child that outlives its parent.
# needs: python3 cat
# inputs: bin

python3 - <<'EOF'
import os, time
def child(f):
    if os.fork() == 0:
        try: f()
        finally: os._exit(0)
    os.wait()
fd = os.open("f", os.O_RDWR | os.O_CREAT)
os.write(fd, b"parent "); child(lambda: os.write(fd, b"child ")); os.write(fd, b"parent again")
os.lseek(fd, 0, 0); child(lambda: os.read(fd, 7)); print(os.read(fd, 5), os.lseek(fd, 0, 1))
child(lambda: os.lseek(fd, 2, 0)); print(os.read(fd, 3))
def replaced(): os.dup2(fd, 1); os.execvp("cat", ["cat", "in/bin"])
os.lseek(fd, 0, 2); child(replaced); print(os.lseek(fd, 0, 1), os.fstat(fd).st_size)
os.write(fd, b"after exec"); child(lambda: os.close(fd)); os.write(fd, b" and after close in the child"); os.close(fd)
print(open("f", "rb").read()[-50:])
def nested():
    g = os.open("g", os.O_WRONLY | os.O_CREAT)
    for depth in range(5):
        os.write(g, b"depth %d\n" % depth)
        if os.fork() != 0: os.wait(); os._exit(0)
    os.write(g, b"deepest\n")
child(nested); print(open("g").read().split("\n"))
def orphan():
    h = os.open("h", os.O_WRONLY | os.O_CREAT); os.write(h, b"first ")
    if os.fork() == 0: time.sleep(0.2); os.write(h, b"orphan"); os.close(h); open("done", "w").close()
child(orphan)
for _ in range(500):
    if os.path.exists("done"): break
    time.sleep(0.01)
print(open("h").read())
w = open("buffered", "w"); w.write("once"); w.flush(); child(lambda: (w.write(" by the child"), w.flush())); w.write(" by the parent"); w.close()
print(open("buffered").read())
EOF
