# dd with its ways to place blocks.
# needs: dd cmp od
# bytes: 5000000
# inputs: bin

dd if=in/bin of=copy bs=47008 status=none
cmp in/bin copy
dd if=in/bin of=patched bs=1000 count=10 status=none
dd if=in/bin of=patched bs=1000 count=3 seek=4 skip=100 conv=notrunc status=none
dd if=in/bin of=hole bs=4096 seek=20 count=1 status=none
dd if=in/bin of=appended bs=3000 count=2 oflag=append conv=notrunc status=none
dd if=in/bin of=appended bs=3000 count=2 oflag=append conv=notrunc status=none
dd if=in/bin of=truncated bs=100 count=50 status=none
dd if=in/bin of=truncated bs=100 count=2 seek=3 status=none
dd if=in/bin of=sparse bs=64k conv=sparse status=none
dd if=/dev/zero of=sparse bs=64k seek=40 count=2 conv=sparse,notrunc status=none
dd if=in/bin of=synced bs=7777 conv=fsync status=none
dd if=in/bin of=datasync bs=128k oflag=dsync status=none
dd if=in/bin of=swapped conv=swab ibs=512 obs=8192 status=none
dd if=in/bin of=padded bs=1000 count=1 conv=sync ibs=300 status=none
dd if=in/bin bs=47008 iflag=fullblock status=none | dd of=piped bs=1M iflag=fullblock status=none
dd if=in/bin of=counted iflag=count_bytes,skip_bytes count=100001 skip=777 bs=4096 status=none
dd if=in/bin of=copy conv=excl bs=1k count=1 || echo "excl: $?"
dd if=in/bin of=told bs=1000 count=5
od -An -tx1 -j 81920 -N 16 hole
