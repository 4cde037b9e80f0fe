# Loops that open the file anew for each line, by the shell and by other programs.
# needs: seq printf cat wc
# bytes: 15000

for i in $(seq 1 500); do echo "line $i of many" >> log; done
for i in $(seq 1 60); do env printf 'program %d\n' "$i" >> log; done
for i in $(seq 1 500); do echo "open once $i"; done >> log
i=0
while [ $i -lt 200 ]; do
    i=$((i + 1))
    echo "$i" >> "part-$((i % 7))"
done
cat part-* > joined
wc -l log joined
