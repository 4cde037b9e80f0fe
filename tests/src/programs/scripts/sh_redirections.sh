# Redirections of every kind.
# needs: cat ls seq
# bytes: 90000
# inputs: text

echo one > f
echo two >> f
cat < f > g
{ echo a; echo b; printf 'c%s\n' 1; } > h
( echo sub; echo shell ) >> h
{ cat f; cat g; } > both 2> nothing
cat f g h both

exec 3<> rw
echo "hello pond" >&3
exec 3>&-
exec 3<> rw
read -r line <&3
echo "line: $line"
echo more >&3
exec 3<&-
cat rw

echo message 2> e >&2
cat e
ls not-there 2> e2 || echo "status $?"
cat e2
: > empty
set -C
(echo x > f) 2> clobber || echo "kept: $?"
echo y >| g
set +C

# Two descriptors of one description share an offset; two opens do not.
exec 4> shared
exec 5>&4
echo 1 >&4; echo 2 >&5; echo 3 >&4
exec 4>&- 5>&-
cat shared
exec 4> apart
exec 5> apart
echo longer >&4; echo ab >&5
exec 4>&- 5>&-
cat apart

count=0
while read -r hash number rest; do
    count=$((count + 1))
    case $number in *99) echo "$number $rest" ;; esac
    [ $count -lt 2000 ] || break
done < in/text > picked
echo "$count lines"
cat in/text > copy
# A compound command whose output another program continues.
{ echo head; seq 1 2000; echo tail; } > long
{ read -r first; cat > rest; } < long
echo "$first"
