"""The same file as c04.c makes, by the calls that Python imports."""
import os

fd = os.open("python", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o640)
os.write(fd, b"0123456789")
assert os.lseek(fd, 4, os.SEEK_SET) == 4
os.write(fd, b"four")
os.pwrite(fd, b"end", 5000)
assert os.pwritev(fd, [b"ab", b"cd"], 6000) == 4
assert os.pwritev(fd, [b"ab"], 7000, 0) == 2
assert os.fstat(fd).st_size == os.stat("python").st_size == os.stat("python", dir_fd=None).st_size == 7002
directory = os.open(".", os.O_RDONLY)
assert os.stat("python", dir_fd=directory).st_size == 7002
os.ftruncate(fd, 6003)
os.truncate("python", 6002)
assert os.lseek(fd, 0, os.SEEK_END) == 6002
os.posix_fallocate(fd, 6000, 100)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
one, two = bytearray(1), bytearray(2)
assert os.preadv(fd, [one, two], 5000) == 3 and one + two == b"end"
assert os.preadv(fd, [one, two], 4, 0) == 3 and one + two == b"fou"
assert os.pread(fd, 10, 0) == b"0123four89"
with open("python", "r+b") as stream:
    stream.seek(4)
    assert stream.read(4) == b"four"
    assert stream.truncate(6100) == 6100
    stream.seek(0, 2)
    assert stream.tell() == 6100
with open("python.text", "w+", encoding="utf-8") as text:
    text.write("grün\n" * 3000)
    text.seek(0)
    assert text.read() == "grün\n" * 3000
