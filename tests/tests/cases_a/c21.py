"""Descriptors closed on the way into a child."""
import os, subprocess, sys

with open("parent", "wb", buffering=0) as parent:
    parent.write(b"one")
    for close_fds in (True, False):
        done = subprocess.run(
            ["sh", "-c", "printf child > child; cat child parent"], close_fds=close_fds, capture_output=True
        )
        assert (done.returncode, done.stdout) == (0, b"childone"), done
    with open("passed", "wb", buffering=0) as passed:
        subprocess.run(["sh", "-c", f"printf by-child >&{passed.fileno()}"], pass_fds=[passed.fileno()], check=True)
        passed.write(b"+by-parent")
    parent.write(b"two")
os.closerange(3, 1 << 16)
fd = os.open("late", os.O_RDWR | os.O_CREAT)
assert fd == 3, fd
os.write(fd, b"late")
assert os.pread(fd, 10, 0) == b"late"
assert open("parent").read() == "onetwo"
assert open("passed").read() == "by-child+by-parent"
