# Python's subprocess with files of the store as the child's standard streams.
# needs: python3 cat sort echo
# inputs: text

python3 - <<'EOF'
import os, subprocess as sp
with open("out", "w") as f:
    f.write("before\n"); f.flush()
    sp.run(["echo", "from the child"], stdout=f, check=True)
    f.seek(0, 2); f.write("after\n")
print(open("out").read())
with open("in/text") as i, open("sorted", "wb") as o: print(sp.call(["sort"], stdin=i, stdout=o))
with open("both", "w") as f: sp.run("echo out; echo err >&2; echo out2", shell=True, stdout=f, stderr=sp.STDOUT)
print(open("both").read().split())
# The child reads on where the parent stopped.
with open("in/text", "rb", buffering=0) as f:
    print(f.readline()[-20:]); print(sp.run(["head", "-c", "16"], stdin=f, capture_output=True).stdout)
    print(len(f.read(10)))
p = sp.Popen(["cat"], stdin=sp.PIPE, stdout=open("piped", "w")); p.communicate(b"x" * 300000); print(p.returncode, os.path.getsize("piped"))
fd = os.open("inherited", os.O_RDWR | os.O_CREAT); os.set_inheritable(fd, True)
sp.run(["bash", "-c", f"echo inherited >&{fd}"], close_fds=False); os.lseek(fd, 0, 0); print(os.read(fd, 100))
sp.run(["bash", "-c", f"echo again >&{fd}"], pass_fds=[fd]); os.lseek(fd, 0, 0); print(os.read(fd, 100))
pid = os.posix_spawn("/bin/sh", ["sh", "-c", "echo spawned; pwd >/dev/null"], os.environ,
    file_actions=[(os.POSIX_SPAWN_OPEN, 1, "spawned", os.O_WRONLY | os.O_CREAT, 0o644)])
print(os.waitpid(pid, 0)[1], open("spawned").read())
ps = [sp.Popen(["sh", "-c", f"for i in 1 2 3 4 5; do echo {n} $i; done"], stdout=open(f"p{n}", "w")) for n in range(8)]
print([p.wait() for p in ps], sum(len(open(f"p{n}").read()) for n in range(8)))
r = sp.run(["sh", "-c", "exit 7"]); print(r.returncode)
print(sp.run(["true"]).returncode, sp.check_output(["cat", "spawned"]))
EOF
