# xz and unxz.
# needs: xz cmp
# bytes: 3000000
# inputs: text bin

xz -T1 -0 -k -c in/text > t.xz
xz -dc t.xz | cmp - in/text && echo same
cp in/bin b; xz -T1 -0 b; xz -t b.xz && echo sound
unxz b.xz; cmp b in/bin && echo back
xz -T2 -0 --block-size=1MiB -c in/text > blocks.xz; xz -T2 -d < blocks.xz | cmp - in/text && echo threads
xz -l --robot t.xz | tail -n 1 | cut -f1-5
xz --format=lzma -0 -c in/bin > b.lzma; xz -d -k b.lzma -c | cmp - in/bin && echo lzma
xzgrep -c wheel t.xz
