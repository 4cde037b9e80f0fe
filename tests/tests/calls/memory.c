/* Sets a limit on its address space before it opens its first file. */
#include "case.h"
#include <sys/resource.h>

int main(void)
{
    char bytes[64] = "";
    FILE *s = fopen("/proc/self/statm", "r");
    long pages = 0;
    CHECK(fscanf(s, "%ld", &pages) == 1);
    fclose(s);
    struct rlimit limit = {pages * 4096 + (4 << 20), pages * 4096 + (4 << 20)};
    SAME(setrlimit(RLIMIT_AS, &limit), 0);
    int f = open("shared", O_RDONLY);
    CHECK(f >= 0);
    SAME(read(f, bytes, sizeof bytes), 13);
    CHECK(memcmp(bytes, "first\nsecond\n", 13) == 0);
    SAME(close(f), 0);
    f = open("own", O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 10; i++)
        SAME(write(f, "0123456789\n", 11), 11);
    SAME(lseek(f, 0, SEEK_END), 110);
    BYTES_AT(f, 99, "0123456789\n");
    SAME(close(f), 0);
    s = fopen("own", "a+");
    CHECK(fputs("stream\n", s) >= 0 && fclose(s) == 0);
    pid_t child = fork();
    if (child == 0) {
        f = open("own", O_WRONLY | O_APPEND);
        SAME(write(f, "child\n", 6), 6);
        _exit(0);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    SAME(system("exec tail -n 2 own >> tail"), 0);
    return 0;
}
