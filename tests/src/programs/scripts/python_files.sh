# Python's binary files: every open mode, seeks, truncation, unbuffered and vectored calls.
# needs: python3
# bytes: 1200000
# inputs: bin

python3 - <<'EOF'
import os
data = open("in/bin", "rb").read()
with open("w", "wb") as f:
    f.write(data[:100000]); print(f.tell())
    f.seek(5000); f.write(b"five thousand"); f.flush()
    print(os.fstat(f.fileno()).st_size, os.path.getsize("w"))
with open("w", "r+b") as f:
    f.seek(-10, 2); print(f.read()); f.truncate(50000); f.seek(0, 2); print(f.tell())
    f.write(b"end"); f.seek(4995); print(f.read(30))
with open("w", "ab") as f:
    f.write(b"appended"); print(f.tell())
with open("w+", "w+b") as f:
    f.write(b"x" * 70000); f.seek(69990); print(len(f.read())); f.seek(200000); f.write(b"far")
with open("u", "wb", buffering=0) as f:
    for i in range(2000): f.write(data[i * 7:i * 7 + 13])
with open("u", "rb", buffering=0) as f:
    b = bytearray(5000); print(f.readinto(b), f.read(3), f.tell())
try: open("u", "xb")
except FileExistsError as e: print(e)
fd = os.open("raw", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
print(os.pwrite(fd, b"pwrite", 10000), os.pread(fd, 10, 9998), os.lseek(fd, 0, os.SEEK_CUR))
print(os.writev(fd, [b"one", b"two", data[:5000]]), os.preadv(fd, [bytearray(5), bytearray(3)], 1))
os.ftruncate(fd, 8000); print(os.fstat(fd).st_size, os.lseek(fd, 0, os.SEEK_END))
dup = os.dup(fd); os.lseek(dup, 100, os.SEEK_SET); print(os.read(fd, 4) == data[94:98]); os.close(fd)
os.write(dup, b"still open"); os.fsync(dup); os.fdatasync(dup)
os.posix_fallocate(dup, 0, 20000); print(os.fstat(dup).st_size); os.close(dup)
a = os.open("app", os.O_WRONLY | os.O_CREAT | os.O_APPEND); os.write(a, b"abc"); os.lseek(a, 0, 0); os.write(a, b"def"); os.close(a)
print(open("app").read())
try: os.read(os.open("app", os.O_WRONLY), 1)
except OSError as e: print(e)
print(sorted(os.listdir(".")), os.stat("w").st_size)
os.rename("w", "renamed"); os.link("renamed", "linked"); os.truncate("linked", 10); print(open("renamed", "rb").read())
EOF
