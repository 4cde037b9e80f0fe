# cpio: out, in, pass-through.
# needs: cpio find
# bytes: 3000000
# inputs: text bin small

mkdir -p d/e; cp in/text in/bin d; cp in/small d/e; ln d/bin d/e/hard; ln -s bin d/soft
touch -d 2020-01-01 d/text d/bin d/e/small; touch -h -d 2020-01-01 d/soft; touch -d 2020-01-01 d/e d
find d | sort | cpio -o -H newc --reproducible --owner=0:0 --quiet > a.cpio
cpio -t --quiet < a.cpio
mkdir x; cd x; cpio -id --quiet < ../a.cpio; cd ..
cmp x/d/text in/text; cmp x/d/e/hard in/bin && echo in
find d | sort | cpio -pd --quiet p; diff -r d p/d && echo pass
find in -type f | sort | cpio -o -H ustar --quiet -O t.tar; tar tf t.tar
cpio -i --to-stdout --quiet 'd/e/small' < a.cpio | cmp - in/small && echo one
# The inode numbers in the archive are the kernel's choice unless they are left out.
rm t.tar
