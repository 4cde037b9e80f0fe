# Other roots, mount namespaces, users.
mkdir -p root/bin root/data; cp $(command -v busybox) root/bin/busybox
exec 3> root/data/open; echo before >&3; chroot root /bin/busybox sh -c 'echo inside >> /data/in; echo three >&3; /bin/busybox cat /data/in'; echo after >&3; exec 3>&-; cat root/data/open root/data/in
python3 - <<'X'
import os
f=os.open("py",os.O_RDWR|os.O_CREAT); os.write(f,b"one\n"); cwd=os.open(".",os.O_RDONLY)
if os.fork()==0:
    os.chroot("root"); os.chdir("/"); g=os.open("/data/chrooted",os.O_RDWR|os.O_CREAT); os.write(g,b"x"*100000); os.write(f,b"two\n"); os.close(g)
    if os.fork()==0: h=os.open("/data/chrooted",os.O_RDWR|os.O_APPEND); os.write(h,b"grandchild"); os._exit(0)
    os.wait(); os._exit(0)
os.wait(); os.write(f,b"three\n"); print(os.stat("root/data/chrooted").st_size, os.pread(f,100,0))
if os.fork()==0:
    os.setgroups([]); os.setgid(1234); os.write(f,b"gid\n"); os.chmod(".",0o777); os.setuid(1234); os.write(f,b"four\n"); g=os.open("user",os.O_RDWR|os.O_CREAT); os.write(g,b"u"*50000); os.write(g,b"v"*50000); os.close(g); os.system("echo sys >> user"); os._exit(0)
os.wait(); print(os.stat("user").st_size, os.stat("user").st_uid, os.pread(f,100,0))
os.seteuid(1234); g=os.open("euid",os.O_RDWR|os.O_CREAT); os.write(g,b"e"*100); os.write(g,b"f"*100); os.seteuid(0); os.write(g,b"g"*100000); os.close(g); print(os.stat("euid").st_size, os.stat("euid").st_uid)
X
unshare -m sh -c 'mkdir -p mnt; mount -t tmpfs none mnt; echo hidden > mnt/h; cat mnt/h; mount --bind root mnt; echo bound > mnt/data/b; cat root/data/b'; cat root/data/b
unshare -mr sh -c 'echo user ns > uns; cat uns; (cd root; pivot_root . . 2>/dev/null || true)'; cat uns
setpriv --reuid 1234 --regid 1234 --clear-groups sh -c 'echo setpriv > sp; cat sp'; (ulimit -n 20; echo few > few; cat few); (ulimit -f 4; head -c 100000 /dev/zero > big 2>/dev/null || true) 2>/dev/null; wc -c < big
