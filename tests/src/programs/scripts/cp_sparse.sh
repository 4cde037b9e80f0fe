# cp of files with holes.
# needs: cp truncate dd cmp
# inputs: small

truncate -s 3M holes
dd if=in/small of=holes bs=3901 seek=100 count=1 conv=notrunc status=none
dd if=in/small of=holes bs=3901 seek=700 count=1 conv=notrunc status=none
cp --sparse=always holes always
cp --sparse=never holes never
cp --sparse=auto holes auto
cp --sparse=always in/small small
cmp holes always; cmp holes never; cmp holes auto; cmp in/small small
# Zeros that were written become holes and read the same.
dd if=/dev/zero of=zeros bs=64k count=20 status=none
cat in/small >> zeros
cp --sparse=always zeros zeros-sparse
cmp zeros zeros-sparse && echo equal
stat -c '%n %s' holes always never auto small zeros zeros-sparse
