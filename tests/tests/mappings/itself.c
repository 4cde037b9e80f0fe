/* Reads into and writes from a mapping of the very file. */
#define _GNU_SOURCE
#include "case.h"
#include <sys/mman.h>
#include <sys/uio.h>

enum { LEN = 200000 };

static void fill(int fd)
{
    static char block[LEN];
    for (int i = 0; i < LEN; i++)
        block[i] = 'a' + i / 1000 % 26;
    CHECK(pwrite(fd, block, LEN, 0) == LEN);
}

static void tell(const char *what, int fd)
{
    static unsigned char block[LEN * 2];
    ssize_t n = pread(fd, block, sizeof block, 0);
    unsigned long sum = 5381;
    for (ssize_t i = 0; i < n; i++)
        sum = sum * 33 + block[i];
    printf("%s: %zd bytes, %lx\n", what, n, sum);
}

static void with(int flags, const char *kind)
{
    unlink("f");
    int fd = open("f", O_CREAT | O_RDWR, 0644);
    fill(fd);
    char *guard = mmap(0, LEN * 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *m = mmap(guard, LEN, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);
    CHECK(m != MAP_FAILED);
    printf("-- %s\n", kind);

    CHECK(pread(fd, m + 100000, 5000, 1000) == 5000);
    tell("pread to another place", fd);
    CHECK(lseek(fd, 70000, SEEK_SET) == 70000 && read(fd, m + 10, 66000) == 66000);
    tell("read", fd);
    CHECK(pwrite(fd, m + 3000, 70000, 120000) == 70000);
    tell("pwrite from another place", fd);
    CHECK(lseek(fd, 0, SEEK_END) == LEN && write(fd, m, LEN) == LEN);
    tell("write at the end", fd);
    struct iovec parts[3] = {{m + 7, 5000}, {m + 90000, 1}, {m + 30000, 9999}};
    CHECK(preadv(fd, parts, 3, 12345) == 15000);
    tell("preadv", fd);
    CHECK(pwritev(fd, parts, 3, 54321) == 15000);
    tell("pwritev", fd);
    printf("beyond its end: %zd\n", pread(fd, m + LEN - 4096 * 2, 4096 * 4, 0) > 0 ? (ssize_t)1 : (ssize_t)-1);
    CHECK(munmap(guard, LEN * 2) == 0);
    tell("afterwards", fd);
    CHECK(pwrite(fd, "buffered", 8, 50) == 8);
    tell("written again", fd);
    close(fd);
}

int main(void)
{
    with(MAP_SHARED, "shared");
    with(MAP_PRIVATE, "private");
    return 0;
}
