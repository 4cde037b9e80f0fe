# Hard and symbolic links to files being written.
# needs: ln cat readlink stat
# inputs: small

cp in/small a; ln a b; ln -s a c; ln -s c d
echo one >> b; echo two >> c; echo three >> d
tail -n 3 a
stat -c '%n %h %s' a b
exec 3> w
echo 1 >&3
ln w w2
echo 2 >&3
cat w2
rm w
echo 3 >&3
cat w2
exec 3>&-
cat w2
ln -f in/small b; cmp b in/small && echo forced
ln -sfn in dir; cat dir/small | wc -c
readlink c d dir
ln -s gone dangling; cat dangling || echo "status $?"
echo made > dangling; cat gone
ln a a || echo "status $?"
