# A program that runs cannot be written, and one that is being written cannot be run.
cp /bin/sleep s
./s 100 &
running=$!
for i in $(seq 100); do test "$(readlink /proc/$running/exe)" = "$PWD/s" && break; sleep 0.05; done
( echo x >> s ) 2> told || echo "not appended to: $?"
grep -c 'Text file busy' told
( : > s ) 2> told || echo "not cut: $?"
grep -c 'Text file busy' told
truncate -s 0 s 2> told || echo "not cut by name: $?"
grep -c 'Text file busy' told
python3 -c '
import os, errno
for call in (lambda: os.open("s", os.O_WRONLY), lambda: os.open("s", os.O_RDWR | os.O_TRUNC), lambda: os.truncate("s", 0)):
    try:
        print(call())
    except OSError as e:
        print(e.errno == errno.ETXTBSY)
print(len(open("s", "rb").read()) == os.stat("/bin/sleep").st_size)
'
kill $running
wait $running || true
cmp s /bin/sleep
exec 7>> s
{ ./s 0; } 2> told || echo "not run: $?"
grep -c 'Text file busy' told
echo dirty >&7
echo dirtier >&7
{ ./s 0; } 2> told || echo "not run: $?"
exec 7>&-
./s 0 && echo ran
tail -c 14 s
rm told
