# mv, also of files that are open.
# needs: mv cat mkdir
# inputs: small text

cp in/small a; mv a b; cat b | wc -c
echo first > x; echo second > y
mv -n x y; cat x y
mv -f x y; cat y
mkdir d e
mv y d; mv d/y e/z; cat e/z
mv -T d f; mv e f/
exec 3> open
echo before >&3
mv open moved
echo after >&3
cat moved
exec 3>&-
cat moved
# Replace a file that somebody reads.
cp in/text old; exec 4< old
read -r line <&4; echo "${line#* }"
echo new > new; mv new old
read -r line <&4; echo "${line#* }"
cat <&4 | wc -l
exec 4<&-
cat old
mv -b in/small old; cat old~
mv not-there anywhere || echo "status $?"
