$BIN/environment 2>err; cat log lines five; rm err
env -i PATH="$PATH" sh -c 'echo env -i >> log; env | grep -c MILL'  > n || true; rm n; (exec -c bash -c 'echo exec -c >> log'); cat log; env -u LD_PRELOAD bash -c 'echo unset >> log; cat log' | tail -n 1
python3 -c 'import os,subprocess; open("py","w").write("a\n"); subprocess.run(["sh","-c","echo b >> py"],env={}); os.environ.clear(); subprocess.run("/bin/echo c >> py",shell=True); print(open("py").read())'
