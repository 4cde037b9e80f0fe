#include "case.h"
#include <sys/syscall.h>
#include <sys/vfs.h>

static char room[1024];

int main(void) {
    int fd = open("f", O_CREAT | O_RDWR | O_TRUNC, 0644);
    CHECK(fd >= 0);
    SAME(write(fd, "abcdefgh", 8), 8);
    SAME(write(fd, "ijkl", 4), 4);
    for (int shift = 1; shift < 8; shift += 2) {
        struct stat seen;
        struct stat *st = (struct stat *)(room + shift);
        SAME(fstat(fd, st), 0);
        memcpy(&seen, st, sizeof seen);
        SAME(seen.st_size, 12);
        SAME(stat("f", st), 0);
        memcpy(&seen, st, sizeof seen);
        SAME(seen.st_size, 12);
        struct statx *stx = (struct statx *)(room + shift), seenx;
        SAME(statx(AT_FDCWD, "f", 0, STATX_ALL, stx), 0);
        memcpy(&seenx, stx, sizeof seenx);
        SAME(seenx.stx_size, 12);
        char bytes[8] = {0};
        struct iovec part = {bytes, 4}, *parts = (struct iovec *)(room + shift);
        memcpy(parts, &part, sizeof part);
        SAME(preadv(fd, parts, 1, 4), 4);
        CHECK(memcmp(bytes, "efgh", 4) == 0);
        SAME(pwritev(fd, parts, 1, 4), 4);
        off_t offset = 2;
        memcpy(room + shift, &offset, sizeof offset);
        SAME(syscall(SYS_copy_file_range, fd, room + shift, fd, NULL, 0, 0), 0);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, *locks = (struct flock *)(room + shift);
        memcpy(locks, &lock, sizeof lock);
        SAME(fcntl(fd, F_SETLK, locks), 0);
        struct timespec times[2] = {{1, 2}, {3, 4}};
        memcpy(room + shift, times, sizeof times);
        SAME(futimens(fd, (struct timespec *)(room + shift)), 0);
    }
    puts("done");
    return 0;
}
