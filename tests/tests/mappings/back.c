/* Each way in which the last mapping of a file can go; a MiB written after each must be served from the pool again. */
#define _GNU_SOURCE
#include "case.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { PAGE = 4096, PAGES = 8, LEN = PAGES * PAGE, MORE = 1 << 20 };

static char want[LEN + MORE];
static int fd;

static void settle(const char *how)
{
    static char block[PAGE], seen[PAGE];
    for (int at = 0; at < MORE; at += PAGE) {
        memset(block, how[0] + at / PAGE, PAGE);
        CHECK(pwrite(fd, block, PAGE, LEN + at) == PAGE);
        memcpy(want + LEN + at, block, PAGE);
        CHECK(pread(fd, seen, PAGE, LEN + at) == PAGE && memcmp(seen, block, PAGE) == 0);
    }
    CHECK(pread(fd, seen, PAGE, 0) == PAGE && memcmp(seen, want, PAGE) == 0);
    printf("%s\n", how);
}

static char *map(int flags)
{
    char *m = mmap(0, LEN, PROT_READ | PROT_WRITE, flags, fd, 0);
    CHECK(m != MAP_FAILED);
    static char mark;
    if (flags & MAP_SHARED) {
        m[5] = want[5] = ++mark;
        m[LEN - 5] = want[LEN - 5] = ++mark;
    }
    return m;
}

int main(void)
{
    fd = open("f", O_CREAT | O_RDWR, 0644);
    CHECK(pwrite(fd, want, sizeof want, 0) == sizeof want);

    char *m = map(MAP_SHARED);
    CHECK(munmap(m, LEN) == 0);
    settle("munmap");

    m = map(MAP_PRIVATE);
    m[7] = 'x';
    CHECK(munmap(m, LEN) == 0);
    settle("private");

    m = map(MAP_SHARED);
    CHECK(munmap(m + 2 * PAGE, PAGE) == 0);
    CHECK(munmap(m, 2 * PAGE) == 0);
    CHECK(munmap(m + 3 * PAGE, LEN - 3 * PAGE - 100) == 0);
    settle("in pieces");

    m = map(MAP_SHARED);
    char *n = map(MAP_SHARED);
    CHECK(munmap(m, LEN) == 0);
    n[9] = want[9] = 'n';
    CHECK(munmap(n, LEN) == 0);
    settle("twice");

    m = map(MAP_SHARED);
    CHECK(mmap(m, LEN, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == m);
    settle("mapped over");
    munmap(m, LEN);

    m = map(MAP_SHARED);
    m = mremap(m, LEN, 64 * LEN, MREMAP_MAYMOVE);
    CHECK(m != MAP_FAILED);
    m[11] = want[11] = 'r';
    CHECK(munmap(m, 64 * LEN) == 0);
    settle("mremap to grow");

    m = map(MAP_SHARED);
    CHECK(mremap(m, LEN, PAGE, 0) == m);
    CHECK(munmap(m, PAGE) == 0);
    settle("mremap to shrink");

    char *place = mmap(0, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    m = map(MAP_SHARED);
    CHECK(mremap(m, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
    CHECK(munmap(place, LEN) == 0);
    settle("mremap to a place");

    m = map(MAP_SHARED);
    n = mremap(m, 0, LEN, MREMAP_MAYMOVE);
    CHECK(n != MAP_FAILED && munmap(m, LEN) == 0);
    n[13] = want[13] = 'd';
    CHECK(munmap(n, LEN) == 0);
    settle("mremap to have it twice");

    m = map(MAP_SHARED);
    pid_t child = fork();
    if (child == 0) {
        m[15] = 'c';
        _exit(munmap(m, LEN));
    }
    CHECK(waitpid(child, 0, 0) == child);
    want[15] = 'c';
    CHECK(munmap(m, LEN) == 0);
    settle("fork");

    m = map(MAP_SHARED);
    child = fork();
    if (child == 0)
        execl("/bin/true", "true", (char *)0);
    CHECK(munmap(m, LEN) == 0);
    CHECK(waitpid(child, 0, 0) == child);
    settle("exec");

    m = map(MAP_SHARED);
    child = fork();
    if (child == 0)
        pause();
    CHECK(munmap(m, LEN) == 0);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, 0, 0) == child);
    sleep(1);
    settle("kill");

    int reader = open("f", O_RDONLY);
    CHECK(mmap(0, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, reader, 0) == MAP_FAILED);
    CHECK(mmap(0, LEN, PROT_READ, MAP_SHARED, reader, 1) == MAP_FAILED);
    close(reader);
    settle("failed");

    m = (char *)syscall(SYS_mmap, 0, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    m[17] = want[17] = 's';
    CHECK(syscall(SYS_munmap, m, LEN) == 0);
    settle("by number");

    static char seen[sizeof want];
    CHECK(pread(fd, seen, sizeof seen, 0) == sizeof seen && memcmp(seen, want, sizeof want) == 0);
    return 0;
}
