# sort with more data than it may hold: it spills into the store.
# needs: sort cmp shuf
# bytes: 6000000
# inputs: text

sort -S 64k -T . in/text > sorted
sort -S 64k -T tmp -r in/text -o reversed
sort -c sorted && echo in-order
sort -k3,3 -k2,2n -S 128k --parallel=1 -T . in/text > by-word
cp in/text place; sort -S 64k -T . -o place place; cmp place sorted && echo in-place
sort -m sorted reversed 2> /dev/null | wc -l
split -l 9000 in/text piece-
for p in piece-*; do sort -o $p $p; done
sort -m piece-* | cmp - sorted && echo merged
sort -u -k3,3 in/text | wc -l
cut -d' ' -f2 in/text | sort -n -S 32k --compress-program=gzip -T . | tail -n 1
shuf --random-source=in/text in/text > shuffled
sort shuffled | cmp - sorted && echo sorted-again
ls
