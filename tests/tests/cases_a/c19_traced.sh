# The same programs under a tracer, which slows down and interrupts them: they end all the same.
echo one > a
strace -f -o "$BIN/trace" bash -c 'cat a > b; python3 -c "print(open(\"b\").read(), end=\"\")" > c; readlink -f c > /dev/null'
is "$(cat c)" one
tail -n 1 "$BIN/trace" | grep -q 'exited with 0'
