# tee to several files, appending.
# needs: tee cat
# bytes: 6000000
# inputs: text

tee one two < in/text | tail -n 1
cat in/text | tee -a one > three
echo last | tee -a one two three
for i in 1 2 3 4 5 6 7 8 9; do echo $i | tee -a numbers > /dev/null; done
cat numbers
head -c 100 in/text | tee /dev/stderr > small
wc -c one two three
