# tail waits for the kernel to tell it of a change; the writer neither closes nor forks.
: > followed
: > seen
tail -n +1 -f followed > seen & tail=$!
sleep 0.3
python3 -c '
import os, time
f = os.open("followed", os.O_WRONLY)
for i in range(5):
    os.write(f, b"%d\n" % i)
    time.sleep(0.2)
for attempt in range(40):
    if len(open("seen").read().split()) == 5: break
    time.sleep(0.05)
print(open("seen").read().split())
'
kill $tail
wait $tail || true
is "$(tr '\n' ' ' < seen)" "0 1 2 3 4 "
