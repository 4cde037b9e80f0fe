# Python's multiprocessing: processes that write and read files of the store, by fork and by spawn.
# needs: python3
# inputs: text

cat > work.py <<'EOF'
import multiprocessing as mp, os
def write(i):
    with open(f"out-{i}", "w") as f:
        for n in range(2000): f.write(f"{i} {n}\n")
    return os.path.getsize(f"out-{i}")
def count(i):
    with open("in/text") as f: return sum(1 for n, line in enumerate(f) if n % 4 == i and "pond" in line)
def add(lock, name, times):
    for _ in range(times):
        with lock:
            value = int(open(name).read())
            with open(name, "w") as f: f.write(str(value + 1))
def part(i):
    fd = os.open("shared", os.O_WRONLY)
    for n in range(i, 400, 4): os.pwrite(fd, bytes([n % 251]) * 1000, n * 1000)
    os.close(fd)
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = mp.get_context(method)
        with context.Pool(2) as pool:
            print(method, pool.map(write, range(4)), sum(pool.map(count, range(4))))
        open("counter", "w").write("0")
        lock = context.Lock()
        ps = [context.Process(target=add, args=(lock, "counter", 25)) for _ in range(3)]
        [p.start() for p in ps]; [p.join() for p in ps]
        print(open("counter").read(), [p.exitcode for p in ps])
    open("shared", "w").close(); os.truncate("shared", 400000)
    context = mp.get_context("fork")
    with context.Pool(4) as pool: pool.map(part, range(4), chunksize=1)
    data = open("shared", "rb").read()
    print(all(data[n * 1000:n * 1000 + 1000] == bytes([n % 251]) * 1000 for n in range(400)))
    q = context.Queue()
    p = context.Process(target=lambda: q.put(len(open("in/text").read()))); p.start(); print(q.get()); p.join()
EOF
python3 work.py
