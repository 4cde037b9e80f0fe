# gcc builds a program inside the store, in one step and in several, and it runs there.
# needs: gcc ld as
# inputs: lines

cat > main.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pond.h"
int main(int argc, char **argv) {
    FILE *in = fopen(argv[1], "r"), *out = fopen("out", "w+");
    char line[256]; long n = 0, bytes = 0;
    if (!in || !out) return 1;
    while (fgets(line, sizeof line, in)) { n++; bytes += strlen(line); fprintf(out, "%ld %d %s", n, pond(n), line); }
    rewind(out); fseek(out, -20, SEEK_END); char tail[21] = {0}; fread(tail, 1, 20, out);
    printf("%ld lines %ld bytes %s", n, bytes, tail);
    fputs("end\n", out);
    return fclose(out) || fclose(in);
}
EOF
cat > pond.c <<'EOF'
#include "pond.h"
int pond(long n) { return (int)(n * 31 % 97); }
EOF
echo 'int pond(long);' > pond.h
gcc -O1 -Wl,--build-id=none -o one main.c pond.c
./one in/lines
gcc -E main.c > main.i
gcc -S -O1 main.c -o main.s
as -o main.o main.s
gcc -c -pipe -save-temps=obj -O1 pond.c -o pond.o
gcc -Wl,--build-id=none -o two main.o pond.o
./two in/lines
gcc -shared -fPIC -Wl,--build-id=none -o libpond.so pond.c
gcc -Wl,--build-id=none -o three main.c -L. -lpond -Wl,-rpath,'$ORIGIN'
./three in/lines
gcc -MM main.c pond.c > deps; cat deps
cp one copied; strip copied; ./copied in/lines
gcc -c broken.c 2> errors || echo "status $?"
objdump -d two | grep -c pond
tail -n 1 out
