"$BIN/c12"
is "$(outside stat -c '%X %Y' times)" "1000000001 1000000000"
is "$(outside stat -c %Y by-path by-descriptor by-utimes | tr '\n' ' ')" "1000000000 1000000000 1000000000 "
sleep 3
is "$(outside stat -c %Y times by-path by-descriptor by-utimes | tr '\n' ' ')" "1000000000 1000000000 1000000000 1000000000 "
mkdir source
for n in 1 2 3 4; do seq 1 $((n * 5000)) > source/$n; done
touch -d @1000000000 source/1 source/2
touch -r source/1 source/3
cp -p source/1 kept
is "$(stat -c %Y kept)" 1000000000
cp -a source copy
is "$(outside stat -c %Y copy/1 copy/2 copy/3 | tr '\n' ' ')" "1000000000 1000000000 1000000000 "
is "$(outside stat -c %Y source/4)" "$(outside stat -c %Y copy/4)"
rsync -a source/ synced
is "$(rsync -ai source/ synced)" ""
is "$(outside stat -c %Y synced/2)" 1000000000
tar cf archive.tar -C source 1 2 3
mkdir back
tar xf archive.tar -C back
is "$(outside stat -c %Y back/1 back/2 back/3 | tr '\n' ' ')" "1000000000 1000000000 1000000000 "
rm archive.tar
# A write does change the time, and make sees the order.
printf 'product: source.txt\n\tcp source.txt product\n' > Makefile
echo one > source.txt
make -s
is "$(make)" "make: 'product' is up to date."
outside sleep 0.02
echo two > source.txt
make -s
is "$(cat product)" two
is "$(make)" "make: 'product' is up to date."
