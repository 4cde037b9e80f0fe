/* Locks of each family, between descriptors, threads and processes; leases. */
#include "matrix.h"

static int other_process(int (*what)(const char *), const char *argument) {
    pid_t child = fork();
    if (child == 0) {
        int r = what(argument);
        _exit(r < 0 ? 100 + errno : r);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static struct flock range(int type, off_t start, off_t len) {
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
}

static int asks(const char *name) {
    int fd = open(name, O_RDWR);
    struct flock l = range(F_WRLCK, 0, 0);
    if (fcntl(fd, F_GETLK, &l) < 0) return -1;
    line("   found type %d start %lld len %lld mine %d", l.l_type, (long long)l.l_start, (long long)l.l_len, l.l_type != F_UNLCK && l.l_pid == getppid());
    l = range(F_WRLCK, 0, 0);
    return fcntl(fd, F_SETLK, &l);
}

static int flocks(const char *name) {
    int fd = open(name, O_RDWR);
    if (flock(fd, LOCK_SH | LOCK_NB) < 0) return -1;
    return flock(fd, LOCK_EX | LOCK_NB) < 0 ? 50 : 0;
}

int main(void) {
    signal(SIGIO, SIG_IGN);
    settled("file", 10000);
    int fd = NEED(open("file", O_RDWR)), ro = NEED(open("file", O_RDONLY)), wo = NEED(open("file", O_WRONLY)), path = NEED(open("file", O_PATH));
    int pipes[2];
    NEED(pipe(pipes));
    int all[] = {fd, ro, wo, path, pipes[0], -1, 77};
    struct flock l;
    const int types[] = {F_RDLCK, F_WRLCK, F_UNLCK, 7};
    const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END, 9};
    const struct { off_t start, len; } ranges[] = {{0, 0}, {100, 10}, {-1, 10}, {100, -50}, {10, -50}, {INT64_MAX, 1}, {INT64_MAX, 2}, {INT64_MAX - 1, 0}, {-100, 50}};
    const int commands[] = {F_GETLK, F_SETLK, F_OFD_GETLK, F_OFD_SETLK, 1234};
    NEED(pwrite(fd, "x", 1, 20000));
    lseek(fd, 500, SEEK_SET);
    for (int f = 0; f < 7; f++)
        for (int c = 0; c < 5; c++)
            for (int t = 0; t < 4; t++)
                for (int w = 0; w < 4; w++)
                    for (int r = 0; r < 9; r++) {
                        if (f > 2 && (w || r > 1)) continue;
                        LABEL("fd %d command %d type %d whence %d range %d", f, commands[c], types[t], whences[w], r);
                        l = (struct flock){.l_type = types[t], .l_whence = whences[w], .l_start = ranges[r].start, .l_len = ranges[r].len};
                        R(fcntl(all[f], commands[c], &l));
                        line("   %d %d %lld %lld %d", l.l_type, l.l_whence, (long long)l.l_start, (long long)l.l_len, l.l_pid > 0);
                        if (r == 2 && w == 2 && t == 1) R(other_process(asks, "file"));
                        l = range(F_UNLCK, 0, 0);
                        fcntl(fd, F_SETLK, &l);
                        l = range(F_UNLCK, 0, 0);
                        fcntl(fd, F_OFD_SETLK, &l);
                        fcntl(ro, F_OFD_SETLK, &l);
                        fcntl(wo, F_OFD_SETLK, &l);
                    }
    LABEL("pointers");
    R(fcntl(fd, F_SETLK, 0));
    R(fcntl(fd, F_GETLK, (void *)1));
    l = range(F_WRLCK, 0, 1);
    l.l_pid = 5;
    R(fcntl(fd, F_OFD_SETLK, &l));
    /* A lock goes with the first close of any descriptor. */
    LABEL("close");
    l = range(F_WRLCK, 10, 5);
    R(fcntl(fd, F_SETLK, &l));
    R(other_process(asks, "file"));
    R(pwrite(fd, "locked", 6, 10));
    R(fsync(fd));
    R(ftruncate(fd, 20));
    struct stat st;
    R(fstat(fd, &st));
    R(pread(ro, label_ + 400, 10, 10));
    R(other_process(asks, "file"));
    int more = dup(fd);
    close(more);
    R(other_process(asks, "file"));
    R(fcntl(fd, F_SETLK, &l));
    R(close(open("file", O_RDONLY)));
    R(other_process(asks, "file"));
    R(fcntl(fd, F_SETLK, &l));
    more = NEED(open("file", O_RDONLY));
    R(mmap(0, 4096, PROT_READ, MAP_SHARED, more, 0) == MAP_FAILED);
    R(other_process(asks, "file"));
    close(more);
    /* lockf. */
    LABEL("lockf");
    lseek(fd, 4, SEEK_SET);
    R(lockf(fd, F_LOCK, 4));
    R(other_process(asks, "file"));
    R(lockf(fd, F_TEST, 0));
    R(lockf(fd, F_TLOCK, -4));
    R(other_process(asks, "file"));
    R(write(fd, "moved", 5));
    R(lockf(fd, F_ULOCK, 0));
    R(other_process(asks, "file"));
    R(lockf(fd, 99, 0));
    R(lockf(ro, F_TLOCK, 0));
    R(lockf(fd, F_TLOCK, -100));
    R(lseek(fd, 0, SEEK_CUR));
    /* flock. */
    LABEL("flock");
    for (int f = 0; f < 7; f++) {
        R(flock(all[f], LOCK_SH));
        R(flock(all[f], LOCK_EX | LOCK_NB));
        R(flock(all[f], LOCK_UN));
        R(flock(all[f], 0));
        R(flock(all[f], 99));
        R(flock(all[f], LOCK_NB));
    }
    R(flock(fd, LOCK_SH));
    R(other_process(flocks, "file"));
    R(flock(ro, LOCK_SH));
    R(flock(ro, LOCK_EX | LOCK_NB));
    R(flock(fd, LOCK_UN));
    R(flock(ro, LOCK_EX | LOCK_NB));
    R(other_process(flocks, "file"));
    more = dup(ro);
    close(ro);
    R(other_process(flocks, "file"));
    R(pwrite(fd, "flocked", 7, 0));
    pid_t child = fork();
    if (child == 0) {
        flock(more, LOCK_UN);
        _exit(0);
    }
    waitpid(child, 0, 0);
    R(other_process(flocks, "file"));
    R(flock(more, LOCK_EX));
    close(more);
    R(other_process(flocks, "file"));
    /* Deadlock. */
    LABEL("deadlock");
    int go[2], come[2];
    NEED(pipe(go));
    NEED(pipe(come));
    l = range(F_WRLCK, 0, 1);
    R(fcntl(fd, F_SETLK, &l));
    child = fork();
    if (child == 0) {
        int mine = open("file", O_RDWR);
        struct flock one = range(F_WRLCK, 1, 1), zero = range(F_WRLCK, 0, 1);
        fcntl(mine, F_SETLK, &one);
        write(come[1], "x", 1);
        _exit(fcntl(mine, F_SETLKW, &zero) < 0 ? errno : 0);
    }
    read(come[0], label_ + 500, 1);
    usleep(200000);
    l = range(F_WRLCK, 1, 1);
    R(fcntl(fd, F_SETLKW, &l));
    l = range(F_UNLCK, 0, 0);
    R(fcntl(fd, F_SETLK, &l));
    int status;
    waitpid(child, &status, 0);
    R(WEXITSTATUS(status));
    /* Leases. */
    LABEL("lease");
    close(wo);
    close(path);
    settled("leased", 100);
    int lease = NEED(open("leased", O_RDONLY));
    R(fcntl(lease, F_GETLEASE));
    R(fcntl(lease, F_SETLEASE, F_RDLCK));
    R(fcntl(lease, F_GETLEASE));
    R(fcntl(lease, F_SETLEASE, F_WRLCK));
    R(open("leased", O_WRONLY | O_NONBLOCK));
    R(fcntl(lease, F_SETLEASE, F_UNLCK));
    R(pread(lease, label_ + 400, 10, 0));
    close(lease);
    lease = NEED(open("leased", O_RDWR));
    R(write(lease, "before", 6));
    R(fcntl(lease, F_SETLEASE, F_RDLCK));
    R(fcntl(lease, F_SETLEASE, F_WRLCK));
    R(fcntl(lease, F_GETLEASE));
    R(write(lease, "under", 5));
    R(open("leased", O_RDONLY | O_NONBLOCK));
    R(fcntl(lease, F_SETLEASE, F_UNLCK));
    state(lease);
    return 0;
}
