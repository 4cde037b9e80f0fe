# cat in all directions.
# needs: cat
# bytes: 1000000
# inputs: text bin

cat in/text in/bin > joined
cat in/bin >> joined
cat < in/text | cat > piped
cat -n in/text | tail -n 1
cat - in/bin < in/text > mixed
cat -A in/bin > visible
echo grow > own
cat own >> own2
cat own own2 | cat -s
(cat joined >> joined) 2>&1 || echo "input is output: $?"
wc -c joined
