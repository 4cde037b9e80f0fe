# Pipelines whose ends are files.
# needs: cat tr sort uniq wc cut tee paste grep
# bytes: 3000000
# inputs: text

cat in/text | tr a-z A-Z > upper
cut -d' ' -f3- < in/text | sort | uniq -c | sort -rn > counted
wc -l < counted
grep -c 'pond mill' in/text > matches || true
cat matches
tr -d '\n' < in/text | wc -c
cut -c1-16 in/text > left
cut -c18-22 in/text > right
paste left right | tee pasted | tail -n 2
sort -k2,2 in/text | (read -r first; echo "$first"; cat > remaining)
