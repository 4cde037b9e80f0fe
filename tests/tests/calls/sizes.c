/* Offsets and sizes up to what the file system takes, and beyond: what each call says is compared between the runs. */
#include "case.h"

static void say(const char *what, long long at, long long result)
{
    printf("%s %llx: %lld %s\n", what, at, result, result < 0 ? strerror(errno) : "");
}

int main(void)
{
    static const long long places[] = {
        (1LL << 31) - 1, 1LL << 31, (1LL << 32) - 1, 1LL << 32, (1LL << 42) - 1, 1LL << 42, (1LL << 43) + 5, (1LL << 44) - 4097,
        (1LL << 44) - 4096, (1LL << 44) - 1, 1LL << 44, 1LL << 50, LLONG_MAX - 1, LLONG_MAX,
    };
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    struct stat st;
    char byte;
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        long long at = places[i];
        say("ftruncate", at, ftruncate(f, at));
        SAME(fstat(f, &st), 0);
        say("size", at, st.st_size);
        SAME(ftruncate(f, 3), 0);
        say("pwrite", at, pwrite(f, "abc", 3, at));
        say("pread", at, pread(f, &byte, 1, at));
        SAME(fstat(f, &st), 0);
        say("size", at, st.st_size);
        SAME(ftruncate(f, 3), 0);
        say("lseek", at, lseek(f, at, SEEK_SET));
        say("write", at, write(f, "xy", 2));
        say("lseek", at, lseek(f, 0, SEEK_CUR));
        say("read", at, read(f, &byte, 1));
        SAME(ftruncate(f, 3), 0);
        say("lseek", at, lseek(f, 0, SEEK_SET));
        say("lseek from the end", at, lseek(f, at - 3, SEEK_END));
        say("lseek further", at, lseek(f, at, SEEK_CUR));
        SAME(lseek(f, 0, SEEK_SET), 0);
        SAME(pwrite(f, "end", 3, 0), 3);
        BYTES_AT(f, 0, "end");
    }
    return close(f);
}
