/* Descriptors: copies, limits, ranges, flags, and calls after close. */
#include "matrix.h"
#include <linux/close_range.h>

#define DUPFD_QUERY 1027
#define GET_RW_HINT 1035
#define SET_RW_HINT 1036
#define FIGETBSZ 2

static void which(const char *what) {
    char text[256];
    int n = 0;
    for (int fd = 0; fd < 80; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0) n += snprintf(text + n, sizeof text - n, " %d%s", fd, flags ? "c" : "");
    }
    line("%s %s open:%s", label_, what, text);
}

static void marks(int fd) {
    const int sets[] = {0, O_APPEND, O_NONBLOCK, O_ASYNC, O_NOATIME, O_DIRECT, O_SYNC, O_DSYNC, O_CREAT | O_TRUNC | O_EXCL, O_RDONLY, O_WRONLY, O_PATH,
                        -1, O_APPEND | O_NONBLOCK, O_CLOEXEC, O_LARGEFILE, O_DIRECTORY, O_NOFOLLOW, 0};
    char bytes[8] = "1234567";
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
        LABEL("F_SETFL %x", sets[i]);
        R(fcntl(fd, F_SETFL, sets[i]));
        R(fcntl(fd, F_GETFL));
        if (sets[i] != O_DIRECT && sets[i] != -1) {
            R(lseek(fd, 3, SEEK_SET));
            R(write(fd, bytes, 5));
            R(pwrite(fd, bytes, 5, 1));
            R(read(fd, bytes, 3));
            state(fd);
        }
        R(syscall(SYS_fcntl, fd, F_SETFL, 0));
    }
    R(fcntl(fd, F_SETFD, 1));
    R(fcntl(fd, F_GETFD));
    R(fcntl(fd, F_SETFD, 0xff00));
    R(fcntl(fd, F_GETFD));
    R(fcntl(fd, 9999, 0));
    R(fcntl(fd, -1, 0));
    R(fcntl(fd, F_GETPIPE_SZ));
    R(fcntl(fd, F_SETPIPE_SZ, 4096));
    R(fcntl(fd, F_GET_SEALS));
    R(fcntl(fd, F_ADD_SEALS, 1));
    R(fcntl(fd, F_GETOWN));
    R(fcntl(fd, F_SETOWN, getpid()));
    R(fcntl(fd, F_SETSIG, SIGIO));
    R(fcntl(fd, F_GETSIG));
    R(fcntl(fd, F_SETSIG, 1000));
    R(fcntl(fd, F_NOTIFY, DN_MODIFY));
    uint64_t hint = 3;
    R(fcntl(fd, SET_RW_HINT, &hint));
    R(fcntl(fd, GET_RW_HINT, &hint));
    hint = 99;
    R(fcntl(fd, SET_RW_HINT, &hint));
    R(fcntl(fd, SET_RW_HINT, 0));
    R(fcntl(fd, F_GETLEASE));
    R(fcntl(fd, F_SETLEASE, 77));
    R(fcntl(fd, F_SETLEASE, F_RDLCK));
    R(fcntl(fd, F_SETLEASE, F_UNLCK));
    R(fcntl(fd, DUPFD_QUERY, fd));
}

/* Every call on a descriptor that is not there, or not for this. */
static void misused(int fd) {
    char b[64];
    struct stat st;
    struct statx stx;
    struct iovec iov = {b, 4};
    struct flock lock = {.l_type = F_WRLCK};
    struct timespec times[2] = {{1, 1}, {2, 2}};
    R(read(fd, b, 4));
    R(write(fd, b, 4));
    R(read(fd, b, 0));
    R(write(fd, b, 0));
    R(read(fd, 0, 4));
    R(pread(fd, b, 4, 0));
    R(pread(fd, b, 4, -1));
    R(pwrite(fd, b, 4, 0));
    R(pwrite(fd, b, 4, -1));
    R(readv(fd, &iov, 1));
    R(writev(fd, &iov, -1));
    R(preadv(fd, &iov, 1, -1));
    R(pwritev2(fd, &iov, 1, 0, 0x8000));
    R(lseek(fd, 0, SEEK_CUR));
    R(lseek(fd, 0, 99));
    R(fstat(fd, &st));
    R(fstat(fd, 0));
    R(fstatat(fd, "", &st, AT_EMPTY_PATH));
    R(statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &stx));
    R(ftruncate(fd, 5));
    R(ftruncate(fd, -5));
    R(fallocate(fd, 0, 0, 10));
    R(posix_fallocate(fd, 0, 10));
    R(posix_fallocate(fd, -1, 10));
    R(posix_fadvise(fd, 0, 10, 0));
    R(posix_fadvise(fd, 0, 10, 99));
    R(readahead(fd, 0, 10));
    R(fsync(fd));
    R(fdatasync(fd));
    R(syncfs(fd));
    R(sync_file_range(fd, 0, 0, 0));
    R(futimens(fd, times));
    R(fchmod(fd, 0600));
    R(fchown(fd, 0, 0));
    R(flock(fd, LOCK_SH));
    R(fcntl(fd, F_SETLK, &lock));
    R(lockf(fd, F_LOCK, 0));
    R(fcntl(fd, F_GETFL));
    R(fcntl(fd, F_GETFD));
    R(fcntl(fd, F_DUPFD, 10));
    R(dup(fd));
    R(dup2(fd, 70));
    R(dup2(fd, fd));
    R(dup3(fd, fd, 0));
    R(dup3(fd, 70, 0xff));
    R(close(fd));
    R(sendfile(1, fd, 0, 4));
    R(sendfile(fd, 0, 0, 4));
    R(splice(fd, 0, fd, 0, 4, 0));
    R(copy_file_range(fd, 0, fd, 0, 4, 0));
    R(isatty(fd));
    OK(mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0));
    R(ioctl(fd, FIONREAD, b));
    R(fdopen(fd, "r") ? 0 : -1);
    R(openat(fd, "x", O_RDONLY));
    R(openat(fd, "/dev/null", O_RDONLY));
}

static void sweep(void) {
    for (int fd = 3; fd < 80; fd++) close(fd);
}

static void ranges(void) {
    for (int round = 0; round < 14; round++) {
        sweep();
        int fd = NEED(open("file", O_RDWR));
        NEED(write(fd, "range", 5));
        for (int i = 0; i < 9; i++) dup(fd);
        LABEL("range %d", round);
        switch (round) {
        case 0: R(close_range(5, 7, 0)); break;
        case 1: R(close_range(5, 7, CLOSE_RANGE_CLOEXEC)); break;
        case 2: R(close_range(7, 5, 0)); break;
        case 3: R(close_range(5, 7, 99)); break;
        case 4: R(close_range(5, ~0u, 0)); break;
        case 5: R(close_range(5, ~0u, CLOSE_RANGE_CLOEXEC)); break;
        case 6: R(close_range(5, 7, CLOSE_RANGE_UNSHARE)); break;
        case 7: R(close_range(3, ~0u, CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)); break;
        case 8: closefrom(6); break;
        case 9: closefrom(3); break;
        case 10: R(syscall(SYS_close_range, 4, 6, 0)); break;
        case 11: R(syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_UNSHARE)); break;
        case 12: R(close_range(1000, ~0u, 0)); break;
        case 13: R(close_range(~0u, ~0u, 0)); break;
        }
        which("after");
        for (int f = 3; f < 14; f++) {
            LABEL("range %d fd %d", round, f);
            R(write(f, "x", 1));
        }
        int again = open("file", O_RDWR);
        R(again);
        state(again);
    }
    sweep();
}

static void limits(void) {
    struct rlimit limit = {64, 64};
    NEED(setrlimit(RLIMIT_NOFILE, &limit));
    int fd = NEED(open("file", O_RDWR));
    NEED(write(fd, "dirty", 5));
    LABEL("limit");
    R(dup2(fd, 63));
    R(dup2(fd, 64));
    R(dup2(fd, 65));
    R(dup2(fd, -1));
    R(dup2(-1, 70));
    R(dup3(fd, 64, O_CLOEXEC));
    R(dup3(fd, 62, O_CLOEXEC));
    R(dup3(fd, 62, O_APPEND));
    R(dup3(fd, fd, O_CLOEXEC));
    R(fcntl(fd, F_DUPFD, 63));
    R(fcntl(fd, F_DUPFD, 64));
    R(fcntl(fd, F_DUPFD, -1));
    R(fcntl(fd, F_DUPFD, 30));
    R(fcntl(fd, F_DUPFD_CLOEXEC, 30));
    R(fcntl(fd, F_DUPFD_CLOEXEC, 64));
    which("copies");
    R(read(30, label_, 0));
    R(lseek(62, 100, SEEK_SET));
    R(lseek(fd, 0, SEEK_CUR));
    R(lseek(30, 0, SEEK_CUR));
    LABEL("full");
    int n = 0;
    while (open("file", O_RDONLY) >= 0) n++;
    R(n);
    R(open("file", O_RDONLY));
    R(open("new", O_CREAT | O_RDWR, 0644));
    R(access("new", F_OK));
    R(dup(fd));
    R(fcntl(fd, F_DUPFD, 0));
    R(openat(AT_FDCWD, "file", O_PATH));
    R(creat("new2", 0644));
    R(fopen("file", "r") ? 0 : -1);
    R(tmpfile() ? 0 : -1);
    R(write(fd, "more", 4));
    R(fsync(fd));
    state(fd);
    R(close(fd));
    R(close(fd));
    R(open("file", O_RDONLY));
    sweep();
}

static void over(void) {
    int fd = NEED(open("file", O_RDWR));
    settled("other", 100);
    int other = NEED(open("other", O_RDWR));
    LABEL("over");
    R(write(fd, "file", 4));
    R(write(other, "other", 5));
    R(dup2(fd, other));
    R(write(other, "again", 5));
    state(fd);
    R(dup2(fd, fd));
    R(close(fd));
    state(other);
    fd = NEED(open("other", O_RDONLY));
    state(fd);
    R(dup2(1, fd));
    R(fcntl(fd, F_GETFL) == fcntl(1, F_GETFL));
    close(fd);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(other, &set);
    R(select(other + 1, &set, 0, 0, 0));
    int room = 77;
    R(ioctl(other, FIONREAD, &room));
    R(room);
    R(ioctl(other, FIONBIO, &room));
    R(fcntl(other, F_GETFL));
    R(ioctl(other, FIOCLEX));
    R(fcntl(other, F_GETFD));
    R(ioctl(other, FIONCLEX));
    R(fcntl(other, F_GETFD));
    R(ioctl(other, FIONREAD, 0));
    R(ioctl(other, 0x12345678, 0));
    R(ioctl(other, FIGETBSZ, &room));
}

int main(void) {
    sweep();
    settled("file", 5000);
    int fd = NEED(open("file", O_RDWR));
    which("first");
    marks(fd);
    close(fd);
    const int numbers[] = {-1, -5, 100000, INT_MAX, INT_MIN, 50};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        LABEL("number %d", numbers[i]);
        misused(numbers[i]);
        sweep();
    }
    fd = NEED(open("file", O_RDWR));
    close(fd);
    LABEL("closed");
    misused(fd);
    sweep();
    const int modes[] = {O_PATH, O_RDONLY, O_WRONLY, O_RDWR};
    for (int i = 0; i < 4; i++) {
        fd = NEED(open("file", modes[i]));
        LABEL("mode %x", modes[i]);
        misused(fd);
        sweep();
    }
    fd = NEED(open(".", O_RDONLY));
    LABEL("directory");
    misused(fd);
    sweep();
    ranges();
    over();
    sweep();
    limits();
    return 0;
}
