ulimit -c 0
ln -s f link
for symbol in __open_2 __openat_2 __read_chk __pread_chk __fread_chk __realpath_chk; do
    nm -D "$BIN/c05_fortified" | grep -q "U $symbol@"
done
"$BIN/c05_plain" f > plain
"$BIN/c05_fortified" f > fortified
cmp plain fortified
# An overflow still ends the program.
status=0
( "$BIN/c05_fortified" f 65 > overflow 2> told; exit $? ) 2> /dev/null || status=$?
is $status 134
grep -q 'buffer overflow detected' told
rm told overflow
# GNU tar is built that way.
mkdir -p tree/sub
for n in 1 2 3 4 5 6 7 8; do seq 1 $((n * 3000)) > tree/sub/$n; printf $n > tree/$n; done
dd if=/dev/zero of=tree/hole bs=1 count=1 seek=300000 status=none
find tree -exec touch -d @0 {} +
tar cf tree.tar --sort=name --owner=0 --group=0 --numeric-owner tree
mkdir back
tar xf tree.tar -C back
diff -r tree back/tree
tar czf tree.tgz tree
rm -r back && mkdir back
tar xzf tree.tgz -C back
diff -r tree back/tree
touch -d @0 f
tar rf tree.tar --owner=0 --group=0 --numeric-owner f
tar tf tree.tar | tail -n 1
tar df tree.tar
rm tree.tgz
rm -r back
