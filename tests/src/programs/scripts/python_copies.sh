# Copies that the kernel makes: sendfile, copy_file_range, splice, and what shutil makes of them.
# needs: python3
# inputs: bin small

python3 - <<'EOF'
import filecmp, os, shutil, socket
data = open("in/bin", "rb").read()
i = os.open("in/bin", os.O_RDONLY); o = os.open("sent", os.O_RDWR | os.O_CREAT)
print(os.sendfile(o, i, 0, 100000), os.sendfile(o, i, 500000, 1000), os.lseek(o, 0, os.SEEK_CUR), os.lseek(i, 0, os.SEEK_CUR))
print(os.sendfile(o, i, None, 5000), os.lseek(i, 0, os.SEEK_CUR))
c = os.open("ranged", os.O_RDWR | os.O_CREAT)
os.pwrite(c, b"fresh bytes, not flushed", 3)
d = os.open("ranged2", os.O_RDWR | os.O_CREAT)
print(os.copy_file_range(c, d, 1000000), os.pread(d, 100, 0), os.copy_file_range(c, d, 10))
print(os.copy_file_range(c, d, 5, 3, 100), os.pread(d, 200, 0))
w = os.open("w", os.O_RDWR | os.O_CREAT); os.write(w, data[:50000])
a, b = socket.socketpair(); print(os.sendfile(a.fileno(), w, 40000, 1000), b.recv(2000) == data[40000:41000])
r, p = os.pipe(); print(os.splice(w, p, 4000, offset_src=100), os.read(r, 5000) == data[100:4100])
os.write(p, b"into the file"); print(os.splice(r, w, 100), os.pread(w, 20, 50000), os.lseek(w, 0, os.SEEK_CUR))
for fd in (i, o, c, d, w): os.close(fd)
shutil.copyfile("in/bin", "copyfile"); print(filecmp.cmp("in/bin", "copyfile", False))
shutil.copy2("in/small", "copy2"); print(os.stat("copy2").st_mtime_ns == os.stat("in/small").st_mtime_ns)
f = open("unflushed", "w"); f.write("z" * 20000); f.flush(); shutil.copyfile("unflushed", "of-unflushed"); print(os.path.getsize("of-unflushed"))
shutil.copytree("in", "tree"); print(sorted(os.listdir("tree")))
shutil.move("tree", "moved"); shutil.copyfileobj(open("in/bin", "rb"), open("obj", "wb"), 47008)
print(filecmp.cmp("in/bin", "moved/bin", False)); shutil.rmtree("moved")
shutil.make_archive("arch", "tar", "in"); print(os.path.getsize("arch.tar") > 1300000); os.remove("arch.tar")
EOF
cmp obj in/bin && echo same
