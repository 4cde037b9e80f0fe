/* Flags and lengths known at run time only, so that a fortified build calls the checking names. */
#include "case.h"

int main(int argc, char **argv)
{
    volatile int creating = O_RDWR | O_CREAT | O_TRUNC, reading = O_RDONLY;
    volatile size_t length = argc > 2 ? strtoul(argv[2], NULL, 10) : 64;
    char bytes[64], wide[64];
    memset(bytes, 'x', sizeof bytes);
    int f = open(argv[1], creating, 0600);
    SAME(write(f, "The quick brown fox jumps over the lazy dog, and back again, 64!", 64), 64);
    int g = open(argv[1], reading), at = openat(AT_FDCWD, argv[1], reading);
    CHECK(g >= 0 && at >= 0);
    SAME(read(g, bytes, length), (long long)length);
    SAME(write(1, bytes, length), (long long)length);
    SAME(pread(at, wide, length, 0), (long long)length);
    SAME(write(1, wide, length), (long long)length);
    FILE *stream = fopen(argv[1], "r");
    SAME(fread(wide, 1, length, stream), (long long)length);
    rewind(stream);
    CHECK(fgets(bytes, (int)length, stream) == bytes);
    fprintf(stdout, "%s%d\n", bytes, (int)length);
    char resolved[PATH_MAX], link[64];
    CHECK(realpath(argv[1], resolved) == resolved);
    CHECK(readlink("link", link, length) > 0);
    return 0;
}
