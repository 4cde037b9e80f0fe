# awk with many output files, getline from files, and close.
# needs: gawk
# bytes: 4000000
# inputs: text lines

gawk '{ print $2, $3 > ("word-" $3) } END { print NR }' in/text
wc -l word-*
gawk '{ print > "all"; print $1 >> "hashes" } NR == 500 { close("all"); while ((getline l < "all") > 0) n++; close("all"); print n, "read back" }' in/lines
wc -l all hashes
gawk 'BEGIN { for (i = 0; i < 300; i++) { f = "n" i % 7; print i >> f; close(f) } }'; cat n0 | tail -n 1
gawk 'BEGIN { "cat in/lines | wc -l" | getline n; print n + 0 > "/dev/stdout"; print "x" | "sort > sorted"; close("sort > sorted") }'
cp in/lines p; gawk -i inplace '{ print NR ": " $0 }' p; tail -n 1 p
gawk 'NR == FNR { seen[$3]++; next } FNR < 4 { print $3, seen[$3] }' in/text in/lines
