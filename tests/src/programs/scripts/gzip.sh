# gzip and gunzip in place and through pipes.
# needs: gzip gunzip zcat cmp
# bytes: 4000000
# inputs: text bin lines

cp in/text t; cp in/bin b
gzip -n t b
gzip -t t.gz b.gz && echo sound
zcat t.gz | cmp - in/text && echo zcat
gunzip -k t.gz; cmp t in/text && echo gunzip
gzip -n -9 -c in/lines > nine.gz; gzip -n -1 < in/text > one.gz
cat nine.gz one.gz > two.gz; gunzip -c two.gz | wc -l
gunzip b.gz; cmp b in/bin && echo back
gzip -nk t 2>&1 < /dev/null || echo "exists: $?"
gzip -nf t
head -c 1000 nine.gz > broken.gz
gunzip -c broken.gz > partial || echo "broken: $?"
rm partial
gzip -n -S .z -c in/bin > b.z
zgrep -c pond nine.gz
