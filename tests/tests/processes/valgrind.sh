cat > $BIN/p.c <<'X'
#include <stdio.h>
#include <fcntl.h>
#include <unistd.h>
int main(void) { int f = open("v", O_RDWR | O_CREAT | O_TRUNC, 0644); for (int i = 0; i < 100; i++) write(f, "line\n", 5); char b[10] = ""; pread(f, b, 9, 5); puts(b); close(f); FILE *s = fopen("w", "w"); fprintf(s, "stream\n"); fclose(s); return 0; }
X
gcc -w -o $BIN/p $BIN/p.c
valgrind -q $BIN/p; cat v w | wc -c; valgrind -q --trace-children=yes sh -c 'echo x > y; cat y'
gdb -q -batch -ex run $BIN/p 2>/dev/null | grep -v Thread | head -n 2; strace -f -o $BIN/trace sh -c 'echo s > st; cat st'; ltrace -o $BIN/ltrace $BIN/p; cat v w | wc -c
