/* Times that a program sets before close are there after it. */
#include "case.h"
#include <sys/time.h>
#include <utime.h>

static int written(const char *name)
{
    int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "some bytes", 10), 10);
    return f;
}

int main(void)
{
    struct timespec times[2] = {{1000000001, 0}, {1000000000, 0}};
    struct timeval old[2] = {{1000000001, 0}, {1000000000, 0}};
    struct stat before, after;
    int f = written("times");
    SAME(futimens(f, times), 0);
    SAME(fstat(f, &after), 0);
    SAME(after.st_mtime, 1000000000);
    SAME(close(f), 0);
    SAME(stat("times", &after), 0);
    SAME(after.st_mtime, 1000000000);
    SAME(after.st_atime, 1000000001);
    f = written("by-path");
    SAME(utimensat(AT_FDCWD, "by-path", times, 0), 0);
    SAME(close(f), 0);
    f = written("by-descriptor");
    SAME(futimes(f, old), 0);
    SAME(close(f), 0);
    f = written("by-utimes");
    SAME(utimes("by-utimes", old), 0);
    SAME(close(f), 0);
    /* A write after it does count. */
    f = written("later");
    SAME(futimens(f, times), 0);
    SAME(write(f, "more", 4), 4);
    SAME(fstat(f, &before), 0);
    CHECK(before.st_mtime > 1000000000);
    SAME(close(f), 0);
    SAME(stat("later", &after), 0);
    CHECK(after.st_mtime > 1000000000);
    return 0;
}
