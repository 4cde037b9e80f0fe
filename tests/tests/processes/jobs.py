# A shell with job control under a terminal: background jobs, a job stopped in the middle of writing, fg, wait, disown.
import os, pty, sys, time, select, signal
shell=sys.argv[1:]
pid, fd = pty.fork()
if pid==0:
    os.environ["PS1"]="> "; os.environ["ENV"]="/dev/null"; os.execvp(shell[0], shell)
def drain(t=0.05):
    out=b""
    while select.select([fd],[],[],t)[0]:
        try: d=os.read(fd,65536)
        except OSError: break
        if not d: break
        out+=d
    return out
def wait_for(path, text, bound=20):
    end=time.time()+bound
    while time.time()<end:
        drain(0.01)
        try:
            if text in open(path,"rb").read(): return True
        except FileNotFoundError: pass
    print("not seen:", path, text); return False
def send(line): os.write(fd,(line+"\n").encode()); 
send("set -m; echo begin > log; (echo one; echo two) >> log & wait; echo waited >> log"); assert wait_for("log", b"waited")
send('sh -c "i=0; while [ \\$i -lt 30000 ]; do echo line \\$i; i=\\$((i+1)); done; echo done" > job; echo after >> log'); time.sleep(0.05)
os.write(fd,b"\x1a"); time.sleep(0.3); drain()
send("echo stopped >> log; wc -c < job > /dev/null; cat job > copy"); wait_for("log", b"stopped"); time.sleep(0.2)
send("fg"); wait_for("job", b"done")
send("sh -c 'sleep 0.2; echo background >> log' & bg; wait; echo over >> log"); wait_for("log", b"over")
send("{ sleep 0.1; echo disowned >> other; } & disown 2>/dev/null; exec 7>> log; echo seven >&7; exec 7>&-; exit"); wait_for("other", b"disowned")
t=time.time()
while time.time()-t<10:
    drain(); p,s=os.waitpid(pid, os.WNOHANG)
    if p: break
else: print("shell hangs"); os.kill(pid,9)
log=open("log").read().split("\n"); print(sorted(set(log)-{"after"}))
print(open("job").read()== "".join(f"line {i}\n" for i in range(30000))+"done\n")
os.unlink("copy")
sys.stdout.flush()
os.unlink("log")
