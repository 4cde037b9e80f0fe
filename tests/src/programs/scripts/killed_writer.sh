# kill -9 between write and close: the bytes are in the file within a second.
# needs: python3 busybox mkfifo kill

mkfifo ready
python3 - <<'EOF' & writer=$!
import os, time
f = os.open("killed", os.O_WRONLY | os.O_CREAT)
for i in range(3000): os.write(f, b"line %d of the killed\n" % i)
g = open("killed2", "wb", buffering=0); g.seek(100000); g.write(b"end")
open("ready", "w").write("written\n")
time.sleep(60)
EOF
cat ready
# Another program sees it before and after.
tail -n 1 killed
# The shell says that it was killed as soon as it knows.
{ kill -9 $writer; wait $writer || status=$?; } 2> notice
rm notice
echo "status $status"
start=$(date +%s%N)
wanted=$(python3 -c 'print(sum(len("line %d of the killed\n" % i) for i in range(3000)))')
arrived() { [ "$(busybox wc -c < killed)" -eq "$wanted" ] && [ "$(busybox wc -c < killed2)" -eq 100003 ]; }
until arrived || [ $(($(date +%s%N) - start)) -gt 1000000000 ]; do busybox sleep 0.01; done
arrived && echo "arrived within a second"
busybox tail -n 1 killed; busybox sha256sum killed killed2
tail -n 1 killed
rm ready
