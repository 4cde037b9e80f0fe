# sed -i, with and without a backup, and its own output files.
# needs: sed cat
# bytes: 3000000
# inputs: text lines

cp in/text t
sed -i 's/pond/POND/g' t
sed -i.bak -e '1d' -e '$s/.*/the end/' t
tail -n 1 t
cp in/lines l
for i in 1 2 3 4 5 6 7 8 9 10; do sed -i "${i}s/^/$i: /" l; done
head -n 10 l | cut -d' ' -f1,3
sed -n -e '/mill mill/w mills' -e '/stone stone/w stones' in/text
wc -l mills stones
sed -n '100,200p' in/text > range
sed -i -s '1s/^/first /' range l
sed --follow-symlinks -i '2d' range
ln -s range link; sed -i --follow-symlinks '1i inserted' link; head -n 1 range
sed '/race/r in/lines' range > read
wc -l read
