"$BIN/c13"
is "$(outside cat r2 s1 linked d2/x)" "old file!newin d1, d2in d1, d2"
# The way editors and package managers save.
echo old > config
for n in 1 2 3 4 5; do
    { echo "version $n"; seq 1 1000; } > config.tmp
    mv config.tmp config
    is "$(head -n 1 config)" "version $n"
    is "$(outside head -n 1 config)" "version $n"
done
sed -i 's/version/edition/' config
is "$(outside head -n 1 config)" "edition 5"
exec 9>> config
mv config moved
echo appended >&9
exec 9>&-
[ ! -e config ]
is "$(outside tail -n 1 moved)" appended
