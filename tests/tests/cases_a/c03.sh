ulimit -c 0
same() { is "$(outside head -c 7 "$1" 2> /dev/null)$(outside tail -c 3 "$1")$(outside wc -c < "$1" | tr -d ' ')" survivefar200003; }
for how in _exit return exec; do
    "$BIN/c03" $how
    same $how
done
for how in kill abort fault; do
    "$BIN/c03" $how
    # A program that is preloaded sees the bytes at once, one that is not within a second.
    is "$(head -c 7 $how)$(tail -c 3 $how)" survivefar
    for try in 1 2 3 4 5 6 7 8 9 10; do
        same $how 2> /dev/null && break
        outside sleep 0.1
    done
    same $how
done
