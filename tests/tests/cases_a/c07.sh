"$BIN/c07"
seq 1 40000 > a
exec 5>> a
echo more >&5
cp a b
cmp a b
cp --reflink=auto --sparse=never a c
cmp a c
exec 5>&-
outside cmp a b
outside cmp a c
is "$(tail -n 1 b)" more
# Over an existing file, and attributes with it.
cp -p from b
cmp from b
install -m 640 a d
cmp a d
