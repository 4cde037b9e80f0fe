echo settings > settings
shim=${LD_PRELOAD:-}
run() {
    preload=$1; shift
    LD_PRELOAD=$preload "$@"
}
"$BIN/c20"
run "$BIN/malloc.so:$shim" "$BIN/c20"
run "$shim:$BIN/malloc.so" "$BIN/c20"
run "$BIN/early.so:$shim" "$BIN/c20"
run "$shim:$BIN/early.so" "$BIN/c20"
run "$BIN/early.so:$shim:$BIN/malloc.so" "$BIN/c20"
# An allocator that the program itself brings and exports, and one beside constructors of its libraries.
"$BIN/c20_own"
run "$shim:$BIN/early.so" "$BIN/c20_own"
for order in "$BIN/malloc.so:$shim" "$shim:$BIN/malloc.so"; do
    run "$order" bash -c 'echo by-bash > bash.out; cat settings bash.out > both; python3 -c "print(open(\"both\").read(), end=\"\")"'
    run "$order" sh -c 'for n in 1 2 3 4 5; do cat settings; done | sort -u >> sorted'
done
is "$(outside cat sorted | tr '\n' ' ')" "settings settings "
is "$(outside wc -l < early.log | tr -d ' ')" 4
is "$(outside wc -l < preinit.log | tr -d ' ')" 8
is "$(outside wc -l < constructor.log | tr -d ' ')" 8
