# Threads of one process on one file: own places, one shared offset, appending.
# needs: python3

python3 - <<'EOF'
import os, threading
fd = os.open("places", os.O_RDWR | os.O_CREAT)
def place(t):
    for n in range(200): os.pwrite(fd, bytes([t * 16 + n % 16]) * 777, (n * 4 + t) * 777)
def run(f): ts = [threading.Thread(target=f, args=(t,)) for t in range(4)]; [t.start() for t in ts]; [t.join() for t in ts]
run(place)
data = os.pread(fd, 10**6, 0); print(len(data), all(data[(n * 4 + t) * 777] == t * 16 + n % 16 for t in range(4) for n in range(200)))
offset = os.open("offset", os.O_RDWR | os.O_CREAT)
run(lambda t: [os.write(offset, b"%d%03d\n" % (t, n)) for n in range(200)])
os.lseek(offset, 0, 0); lines = os.read(offset, 10**6).split(); print(len(lines), len(set(lines)), os.lseek(offset, 0, 1))
app = os.open("app", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
run(lambda t: [os.write(app, b"%d %d\n" % (t, n)) for n in range(200)])
print(len(set(open("app").read().split("\n"))))
seen = []
run(lambda t: seen.extend(os.pread(fd, 777, i * 777)[0] for i in range(t, 800, 4)))
print(len(seen), sum(seen))
def many(t):
    for n in range(50):
        with open(f"f{t}-{n % 5}", "w") as f: f.write(f"{t} {n}")
run(many); print(sum(len(open(f"f{t}-{n}").read()) for t in range(4) for n in range(5)))
# In which order the threads came is the scheduler's business.
os.remove("offset"); os.remove("app")
EOF
