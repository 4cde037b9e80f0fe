/* Reads a file, writes another: for programs of another width, or with other rights. */
#include "case.h"
int main(int argc, char **argv) {
    char b[64] = "";
    int f = open(argv[1], O_RDONLY);
    if (f < 0) return 1;
    long n = read(f, b, sizeof b - 1);
    struct stat st;
    fstat(f, &st);
    printf("%zu-bit: %ld of %lld [%.*s]\n", sizeof(void *) * 8, n, (long long)st.st_size, (int)n, b);
    if (argc > 2) {
        int g = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0666);
        if (g < 0 || write(g, "appended\n", 9) != 9 || close(g)) return 2;
    }
    return 0;
}
