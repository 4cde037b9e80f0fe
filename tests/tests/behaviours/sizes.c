/* Sizes: truncation by name and by descriptor, allocation in every mode, limits on size, advice and write-out. */
#include "matrix.h"

#define SIZE 10000

static void end(int fd) {
    state(fd);
    close(fd);
    fd = open("file", O_RDONLY);
    if (fd >= 0) state(fd);
    close(fd);
}

static void cuts(void) {
    const off_t lengths[] = {-1, INT64_MIN, 0, 1, 4096, 5000, 5020, SIZE, SIZE + 1, 1 << 20, 1l << 40, 1l << 44, (1l << 44) - 4096, 1l << 50, INT64_MAX};
    const int modes[] = {O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_APPEND};
    for (int m = 0; m < 4; m++)
        for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (int how = 0; how < 5; how++) {
                if (left_out()) continue;
                int fd = dirty("file", SIZE, modes[m]);
                lseek(fd, 6000, SEEK_SET);
                LABEL("mode %d length %llx", m, (long long)lengths[i]);
                switch (how) {
                case 0: R(ftruncate(fd, lengths[i])); break;
                case 1: R(truncate("file", lengths[i])); break;
                case 2: R(syscall(SYS_ftruncate, fd, lengths[i])); break;
                case 3: R(syscall(SYS_truncate, "file", lengths[i])); break;
                case 4: {
                    int other = open("file", O_RDWR);
                    R(ftruncate(other, lengths[i]));
                    close(other);
                }
                }
                if (m != 2) R(read(fd, label_ + 300, 100));
                if (m != 1 && lengths[i] < 1 << 21) R(write(fd, "after", 5));
                R(ftruncate(fd, lengths[i] > 0 && lengths[i] < 1 << 21 ? lengths[i] + 10 : SIZE));
                end(fd);
            }
    LABEL("names");
    R(truncate("", 0));
    R(truncate(0, 0));
    R(truncate((char *)-1, 0));
    R(truncate((char *)5, 0));
    R(truncate("missing", 0));
    R(truncate(".", 0));
    R(truncate("file/x", 0));
    R(truncate("/dev/null", 0));
    R(truncate("/dev/null", -1));
    NEED(symlink("file", "link"));
    NEED(symlink("loop", "loop"));
    R(truncate("link", 77));
    R(truncate("loop", 77));
    R(truncate("link/", 77));
    char name[5000];
    memset(name, 'a', sizeof name);
    name[300] = 0;
    R(truncate(name, 0));
    name[300] = 'a';
    name[4999] = 0;
    R(truncate(name, 0));
    int pipes[2];
    NEED(pipe(pipes));
    R(ftruncate(pipes[1], 0));
    R(ftruncate(100000, 0));
    unlink("link");
    unlink("loop");
}

static void allocations(void) {
    const int modes[] = {0, 1, 2, 3, 4, 8, 0x10, 0x11, 0x20, 0x40, 0x41, 0x80, 0x100, -1, 9, 0x21};
    const struct { off_t offset, len; } ranges[] = {{0, 100}, {5000, 3000}, {SIZE, 5000}, {0, 0}, {-1, 10}, {10, -1}, {4096, 4096}, {0, 4096}, {8192, 8192},
                                                    {INT64_MAX, 10}, {INT64_MAX - 10, 5}, {0, INT64_MAX}, {1l << 44, 4096}, {100000, 4096}, {SIZE * 3, 10}};
    const int opens[] = {O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_APPEND};
    for (int o = 0; o < 4; o++)
        for (unsigned m = 0; m < sizeof modes / sizeof *modes; m++)
            for (unsigned r = 0; r < sizeof ranges / sizeof *ranges; r++) {
                if (left_out()) continue;
                int fd = dirty("file", SIZE, opens[o]);
                LABEL("open %d mode %x of %llx %llx", o, modes[m], (long long)ranges[r].offset, (long long)ranges[r].len);
                /* A real allocation of exabytes fails the same way, after some heat. */
                if (ranges[r].len == INT64_MAX && (modes[m] == 0 || modes[m] == 1)) { close(fd); continue; }
                R(fallocate(fd, modes[m], ranges[r].offset, ranges[r].len));
                R(lseek(fd, 0, SEEK_CUR));
                if (m == 0) {
                    R(posix_fallocate(fd, ranges[r].offset, ranges[r].len));
                    R(syscall(SYS_fallocate, fd, 0, ranges[r].offset, ranges[r].len));
                }
                end(fd);
            }
    int pipes[2];
    NEED(pipe(pipes));
    LABEL("others");
    R(fallocate(pipes[1], 0, 0, 10));
    R(posix_fallocate(pipes[1], 0, 10));
    R(posix_fallocate(pipes[0], 0, 10));
    int fd = NEED(open(".", O_RDONLY));
    R(fallocate(fd, 0, 0, 10));
    R(posix_fallocate(fd, 0, 10));
}

static volatile int signals;
static void count(int n) { signals++; }

static void limits(void) {
    signal(SIGXFSZ, count);
    const rlim_t limits[] = {0, 1, 5000, 5010, SIZE, SIZE + 10, 20000};
    static char bytes[20000];
    for (unsigned l = 0; l < sizeof limits / sizeof *limits; l++)
        for (int append = 0; append < 2; append++)
            for (int how = 0; how < 10; how++) {
                int fd = dirty("file", SIZE, O_RDWR | (append ? O_APPEND : 0));
                struct rlimit limit = {limits[l], RLIM_INFINITY};
                setrlimit(RLIMIT_FSIZE, &limit);
                signals = 0;
                LABEL("limit %lu append %d", (long)limits[l], append);
                lseek(fd, 4990, SEEK_SET);
                struct iovec iov[2] = {{bytes, 15}, {bytes, 30}};
                switch (how) {
                case 0: R(write(fd, bytes, 15)); break;
                case 1: R(write(fd, bytes, 10)); R(write(fd, bytes, 10)); R(write(fd, bytes, 10)); break;
                case 2: R(pwrite(fd, bytes, sizeof bytes, 4990)); break;
                case 3: R(pwrite(fd, bytes, 10, SIZE)); R(pwrite(fd, bytes, 10, 20000)); break;
                case 4: R(writev(fd, iov, 2)); break;
                case 5: R(ftruncate(fd, 15000)); R(ftruncate(fd, 3000)); break;
                case 6: R(truncate("file", 15000)); break;
                case 7: R(fallocate(fd, 0, 0, 15000)); break;
                case 8: R(write(fd, bytes, 0)); R(pwrite(fd, bytes, 0, 20000)); break;
                case 9: {
                    lseek(fd, 0, SEEK_END);
                    FILE *stream = fdopen(dup(fd), "a");
                    R(fputs("some words at the end", stream));
                    R(fclose(stream));
                }
                }
                R(signals);
                limit.rlim_cur = RLIM_INFINITY;
                prlimit(0, RLIMIT_FSIZE, &limit, 0);
                end(fd);
            }
    /* With the signal ignored, and in a child. */
    signal(SIGXFSZ, SIG_IGN);
    int fd = dirty("file", SIZE, O_RDWR);
    struct rlimit limit = {5000, RLIM_INFINITY};
    R(setrlimit(RLIMIT_FSIZE, &limit));
    R(pwrite(fd, bytes, 100, 4950));
    R(pwrite(fd, bytes, 100, 5000));
    limit.rlim_cur = 6000;
    R(prlimit(0, RLIMIT_FSIZE, &limit, 0));
    R(pwrite(fd, bytes, 100, 5000));
    R(pwrite(fd, bytes, 100, 6000));
    if (fork() == 0) {
        R(pwrite(fd, bytes, 100, 6000));
        limit.rlim_cur = 7000;
        R(setrlimit(RLIMIT_FSIZE, &limit));
        R(pwrite(fd, bytes, 100, 6000));
        _exit(0);
    }
    wait(0);
    R(pwrite(fd, bytes, 100, 5900));
    R(pwrite(fd, bytes, 100, 5480));
    limit.rlim_cur = RLIM_INFINITY;
    R(setrlimit(RLIMIT_FSIZE, &limit));
    end(fd);
    signal(SIGXFSZ, SIG_DFL);
    if (fork() == 0) {
        fd = dirty("file", SIZE, O_RDWR);
        limit = (struct rlimit){5000, 5000};
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_FSIZE, &limit);
        pwrite(fd, "x", 1, 4999);
        pwrite(fd, "x", 1, 5000);
        line("not reached");
        _exit(0);
    }
    int status;
    wait(&status);
    R(status & 0x7f);
    end(open("file", O_RDWR));
}

static void advice(void) {
    int fd = dirty("file", SIZE, O_RDWR), reading = NEED(open("file", O_RDONLY));
    for (int a = -1; a < 9; a++) {
        LABEL("advice %d", a);
        R(posix_fadvise(fd, 0, 0, a));
        R(posix_fadvise(fd, 100, -1, a));
        R(posix_fadvise(fd, -1, 100, a));
        R(posix_fadvise(reading, 0, 1000, a));
        R(syscall(SYS_fadvise64, fd, 0, 0, a));
        R(syscall(SYS_fadvise64, fd, 0, -1, a));
        state(fd);
        R(write(fd, "more", 4));
    }
    for (unsigned f = 0; f < 9; f++) {
        LABEL("range %u", f);
        R(sync_file_range(fd, 0, 0, f));
        R(sync_file_range(fd, 100, 100, f));
        R(sync_file_range(fd, -1, 100, f));
        R(sync_file_range(fd, 100, -1, f));
        R(sync_file_range(fd, INT64_MAX, 1, f));
        R(sync_file_range(reading, 0, 0, f));
        R(write(fd, "more", 4));
    }
    LABEL("ahead");
    R(readahead(fd, 0, 100));
    R(readahead(fd, -1, 100));
    R(readahead(fd, 0, -1));
    R(readahead(reading, 0, 100));
    R(fsync(reading));
    R(fdatasync(reading));
    R(fsync(fd));
    R(syncfs(reading));
    int only = NEED(open("file", O_WRONLY));
    R(readahead(only, 0, 100));
    R(posix_fadvise(only, 0, 0, 0));
    end(fd);
}

int main(int argc, char **argv) {
    int which = argc > 1 ? atoi(argv[1]) : -1;
    if (which < 0 || which == 0) cuts();
    if (which < 0 || which == 1) allocations();
    if (which < 0 || which == 2) limits();
    if (which < 0 || which == 3) advice();
    return 0;
}
