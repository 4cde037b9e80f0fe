# A program of another C library, which cannot load the shim: started from a shell that has the file open, and the other way round.
musl-gcc -static-pie -o still "$BIN/writer.c"
musl-gcc -o writer "$BIN/writer.c"
echo first > f
exec 3>> f
echo second >&3
./writer f third
echo fourth >&3
./writer /dev/stdout fifth >&3
./still /dev/stdout sixth >&3
exec 3>&-
./writer f seventh
cat f
