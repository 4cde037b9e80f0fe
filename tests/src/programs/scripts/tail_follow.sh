# tail -f sees what is appended, by writers that close at once and by one that keeps the file open.
# needs: tail timeout sleep python3
# direct: notifications come from the kernel's file

echo begin > log
timeout 20 tail -n +1 -f log > followed & follower=$!
for i in 1 2 3 4 5 6 7 8 9 10; do echo "line $i" >> log; sleep 0.02; done
for i in $(seq 1 200); do [ "$(wc -l < followed)" -lt 11 ] || break; sleep 0.05; done
kill $follower; wait $follower || true
cat followed

echo begin > kept
timeout 20 tail -n +1 -f kept > followed2 & follower=$!
exec 3>> kept
for i in 1 2 3 4 5; do echo "kept open $i" >&3; sleep 0.02; done
for i in $(seq 1 200); do [ "$(wc -l < followed2)" -lt 6 ] || break; sleep 0.05; done
kill $follower; wait $follower || true
exec 3>&-
cat followed2

# The follower ends with the process that it watches.
sleep 0.3 & watched=$!
echo one > p
timeout 20 tail -f --pid=$watched -s 0.05 p > followed3 & follower=$!
echo two >> p
wait $watched; wait $follower || echo "status $?"
cat p
rm -f followed3
