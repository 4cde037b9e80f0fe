# The ends of files.
# needs: head tail tac rev nl
# inputs: text bin

head -n 3 in/text; tail -n 3 in/text
head -c 1000 in/bin > h; tail -c 1000 in/bin > t
tail -c +1299000 in/bin | wc -c
tail -n +59999 in/text
head -n -59998 in/text
head -c -1300000 in/bin | wc -c
tac in/text > reversed; head -n 1 reversed
nl in/text > numbered; tail -n 1 numbered
(head -n 1 > first; tail -n 1) < in/text
cat first
exec 3< in/text
head -c 17 <&3 > a; head -c 10 <&3 > b
exec 3<&-
cat a b; echo
tail -q -n 1 in/text first
printf 'no newline' > n; tail -n 1 n; echo; tail -c 3 n; echo
echo grown >> n; tail -n 1 n
