# From the second write to the file on, a tracer answers for the kernel that the quota is used up.
refuse() {
    strace -f -qq -o /dev/null -P "$PWD/f" -e trace=write,pwrite64,pwritev,pwritev2 -e inject=write,pwrite64,pwritev,pwritev2:error=EDQUOT:when=2+ "$@"
}
for way in fsync close; do
    refuse "$BIN/quota" $way > told
    cat told
    # What was taken is in the file, now or when the coordinator has tried again.
    taken=$(cat taken)
    for i in $(seq 200); do
        test "$(outside stat -c %s f)" -ge "$taken" && break
        sleep 0.05
    done
    test "$(outside stat -c %s f)" -ge "$taken"
    head -c "$taken" f | tr -d q | wc -c
    rm f taken told
done
