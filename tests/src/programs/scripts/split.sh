# split and put together again.
# needs: split csplit cat cmp
# bytes: 3000000
# inputs: text bin

split -b 47008 in/bin b-
cat b-* | cmp - in/bin && echo bytes
split -l 7000 -d in/text l-
cat l-* | cmp - in/text && echo lines
split -n 5 in/bin n-; cat n-* | cmp - in/bin && echo chunks
split -n l/3 in/text nl-; cat nl-* > joined; cmp joined in/text && echo line-chunks
split -b 300k --filter='gzip -n > $FILE.gz' in/bin f-; cat f-*.gz | gunzip | cmp - in/bin && echo filter
split -C 100k in/text c-; cat c-* | cmp - in/text && echo C
csplit -s -f cs- in/text 100 20000 '/pond pond pond/'
cat cs-* | cmp - in/text && echo csplit
ls | wc -l
