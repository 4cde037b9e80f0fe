# Check sums written and checked.
# needs: sha256sum md5sum cksum b2sum
# bytes: 3000000
# inputs: text bin small

sha256sum in/* > sums
sha256sum -c sums
cat sums
md5sum in/bin | tee md5; md5sum --quiet -c md5 && echo ok
cksum in/*; sum in/bin; b2sum in/small
cp in/small spoiled; sha256sum spoiled > s; printf X | dd of=spoiled bs=1 seek=2000 conv=notrunc status=none
sha256sum -c s || echo "found: $?"
cat in/bin in/text | sha256sum
