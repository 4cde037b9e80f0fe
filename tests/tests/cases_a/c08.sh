"$BIN/c08"
exec 6> growing
seq 1 5000 >&6
is "$(cat growing | md5sum)" "$(seq 1 5000 | md5sum)"
echo last >&6
is "$(cat growing | tail -n 1)" last
python3 - <<'PYTHON'
import os, shutil, socket
with open("written", "wb", buffering=0) as f:
    for i in range(100):
        f.write(b"%099d\n" % i)
    shutil.copyfile("written", "copied")
    shutil.copy2("written", "copied2")
    a, b = socket.socketpair()
    with open("written", "rb") as g:
        assert a.sendfile(g, offset=9900) == 100
    assert b.recv(200) == b"%099d\n" % 99
    f.write(b"more")
assert os.stat("copied").st_size == os.stat("copied2").st_size == 10000
assert open("copied", "rb").read() + b"more" == open("written", "rb").read()
PYTHON
exec 6>&-
