"$BIN/c10"
# Between programs that share nothing.
exec 8> log
for n in 1 2 3 4 5 6 7 8 9 10; do
    echo "line $n" >&8
    is "$(wc -l < log | tr -d ' ')" $n
    is "$(tail -n 1 log)" "line $n"
    is "$(stat -c %s log)" "$(cat log | wc -c | tr -d ' ')"
done
exec 8>&-
# tail -f follows a writer that does not close.
exec 8> followed
: > seen
tail -n +1 -f followed > seen & tail=$!
for n in 1 2 3 4 5; do echo "$n" >&8; done
for try in $(seq 100); do
    [ "$(wc -l < seen)" -eq 5 ] && break
    outside sleep 0.05
done
kill $tail
wait $tail || true
is "$(tr '\n' ' ' < seen)" "1 2 3 4 5 "
# Killed, tail did not close: its bytes are in the real file soon, if not at once.
for try in $(seq 20); do
    [ "$(outside wc -l < seen)" -eq 5 ] && break
    outside sleep 0.05
done
