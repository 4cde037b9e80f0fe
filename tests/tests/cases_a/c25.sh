"$BIN/c25"
rm b
seq 1 3000 > a
is "$(head -n 1 a)" 1
mv a b
[ ! -e a ]
is "$(tail -n 1 b)" 3000
echo other > a
mv -n a b || true
is "$(cat a)" other
is "$(tail -n 1 b)" 3000
exec 5>> a
echo unflushed >&5
mv a b
exec 5>&-
is "$(tr '\n' ' ' < b)" "other unflushed "
is "$(outside tail -n 1 b)" unflushed
mv --backup=numbered b b2
echo more > b
mv --backup=numbered b b2
is "$(outside cat b2 b2.~1~ | tr '\n' ' ')" "more other unflushed "
