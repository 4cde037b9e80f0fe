# Daemons that close everything in every way, and then write.
import os, sys, resource, time
how=sys.argv[1]
def spawn(fn):
    p=os.fork()
    if p==0:
        try: fn()
        except BaseException as e: os._exit(3)
        os._exit(0)
    return os.waitpid(p,0)[1]
def body():
    f=os.open("pre",os.O_RDWR|os.O_CREAT|os.O_APPEND); os.write(f,b"before "+how.encode()+b"\n"); g=os.open("second", os.O_RDWR|os.O_CREAT); os.dup2(g,50); os.write(50,b"fifty")
    if how=="loop":
        for i in range(3, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0],70000)):
            try: os.close(i)
            except OSError: pass
    elif how=="all":
        for i in range(0, 4096):
            try: os.close(i)
            except OSError: pass
        assert os.open("/dev/null",os.O_RDWR)==0; os.dup2(0,1); os.dup2(0,2)
    elif how=="closerange": os.closerange(3, 1<<20)
    elif how=="proc":
        for n in os.listdir("/proc/self/fd"):
            if int(n)>2:
                try: os.close(int(n))
                except OSError: pass
    elif how=="dup2null":
        n=os.open("/dev/null",os.O_RDWR)
        for i in list(range(3,60))+[999,1000,1001]:
            os.dup2(n,i)
    elif how=="zero":
        os.close(0); os.close(1); os.close(2)
        a=os.open("zero",os.O_RDWR|os.O_CREAT); assert a==0; b=os.open("one",os.O_RDWR|os.O_CREAT); c=os.open("two",os.O_RDWR|os.O_CREAT); assert (b,c)==(1,2); os.write(1,b"stdout\n"); os.write(2,b"stderr\n"); os.system("echo from child; echo err >&2")
    h=os.open("post",os.O_RDWR|os.O_CREAT|os.O_APPEND); os.write(h,how.encode()+b" x\n"); os.lseek(h,0,0); assert how.encode() in os.read(h,1000)
    i=os.open("pre",os.O_RDWR|os.O_APPEND); os.write(i,b"after\n"); 
    big=os.open("big_"+how,os.O_RDWR|os.O_CREAT); os.write(big,b"z"*300000); os.close(big)
    if os.fork()==0: os.write(h,b"grandchild\n"); os._exit(0)
    os.wait()
print(how, spawn(body)); print(open("pre").read(), open("post").read(), open("second").read()); sys.stdout.flush()
