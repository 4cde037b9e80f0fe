# One program has bytes that are not in the file yet; another finds no room for the pool in its address space.
exec 5> shared
echo first >&5
echo second >&5
"$BIN/memory"
echo third >&5
exec 5>&-
cat shared own
is "$(outside cat shared own)" "$(cat shared own)"
