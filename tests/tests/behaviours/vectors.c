/* Vectored calls: odd counts, odd arrays, odd pieces, flags. */
#include "matrix.h"

#define SIZE 10000

enum { READV, WRITEV, PREADV, PWRITEV, PREADV2, PWRITEV2, CALLS };
static const char *names[] = {"readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2"};

static ssize_t make(int call, int fd, const struct iovec *iov, long count, off_t offset, int flags) {
    switch (call) {
    case READV: return syscall(SYS_readv, fd, iov, count);
    case WRITEV: return syscall(SYS_writev, fd, iov, count);
    case PREADV: return preadv(fd, iov, count, offset);
    case PWRITEV: return pwritev(fd, iov, count, offset);
    case PREADV2: return preadv2(fd, iov, count, offset, flags);
    default: return pwritev2(fd, iov, count, offset, flags);
    }
}

static ssize_t plainly(int call, int fd, const struct iovec *iov, int count) {
    return call == READV ? readv(fd, iov, count) : writev(fd, iov, count);
}

static int is_write(int call) { return call & 1; }

static int start(int call, int mode) {
    int fd = dirty("file", SIZE, mode);
    lseek(fd, 4000, SEEK_SET);
    return fd;
}

static void end(int fd) {
    state(fd);
    close(fd);
}

int main(void) {
    static char good[1 << 20];
    static struct iovec many[2000];
    char *half = edge(3000);
    int modes[] = {O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_APPEND};
    pattern(good, sizeof good, 5);
    pattern(half, 3000, 6);
    for (int i = 0; i < 2000; i++) many[i] = (struct iovec){good + i * 7, 7};
    for (int m = 0; m < 4; m++)
        for (int call = 0; call < CALLS; call++) {
            /* Counts. */
            const long counts[] = {0, 1, 2, 31, 32, 33, 64, 65, 1023, 1024, 1025, 2000, -1, INT_MAX, INT_MIN, 0x100000001l};
            for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
                int fd = start(call, modes[m]);
                LABEL("mode %d %s count %ld", m, names[call], counts[i]);
                R(make(call, fd, many, counts[i], 4000, 0));
                if (!is_write(call)) line("   %06lx", digest(good, 14000));
                if (call < 2) R(plainly(call, fd, many, counts[i]));
                end(fd);
            }
            /* Pieces. */
            struct iovec lists[][4] = {
                {{good, 0}, {0, 0}, {good, 10}, {good + 10, 5}},
                {{0, 0}, {half + 3000, 0}, {(void *)-1, 0}, {good, 3}},
                {{(void *)0xffff800000000000, 0}, {good, 3}, {good, 3}, {good, 3}},
                {{good, 10}, {0, 10}, {good, 10}, {good, 10}},
                {{good, 10}, {half + 2990, 20}, {good, 10}, {good, 10}},
                {{half + 2990, 20}, {good, 10}, {good, 10}, {good, 10}},
                {{half + 3000, 1}, {good, 10}, {good, 10}, {good, 10}},
                {{good, 10}, {good, (size_t)-1}, {good, 10}, {good, 10}},
                {{(void *)-1, 10}, {good, (size_t)-1}, {good, 10}, {good, 10}},
                {{good, (size_t)-1}, {(void *)-1, 10}, {good, 10}, {good, 10}},
                {{good, SSIZE_MAX}, {good, SSIZE_MAX}, {good, SSIZE_MAX}, {good, SSIZE_MAX}},
                {{half, 0x100000000}, {half, 0x100000000}, {half, 0x100000000}, {half, 0x100000000}},
                {{good, 10}, {half + 1000, 0x7fffffff}, {half, 0x7fffffff}, {good, 1}},
                {{good, 4000}, {good, 4000}, {good, 4000}, {half + 2000, 4000}},
                {{good, 100000}, {half, 3000}, {good, 70000}, {half + 2999, 4000}},
            };
            for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
                for (int count = 1; count <= 4; count += count == 1 ? 1 : 2) {
                    int fd = start(call, modes[m]);
                    LABEL("mode %d %s list %u of %d", m, names[call], i, count);
                    pattern(good, sizeof good, call);
                    pattern(half, 3000, 6);
                    R(make(call, fd, lists[i], count, 4000, 0));
                    if (!is_write(call)) line("   %06lx %06lx", digest(good, sizeof good), digest(half, 3000));
                    end(fd);
                }
            /* The array itself. */
            struct iovec *edges[] = {0, (struct iovec *)-1, (struct iovec *)0xffff800000000000, (struct iovec *)(half + 3000),
                                     (struct iovec *)(half + 3000 - 32), (struct iovec *)(half + 3000 - 40)};
            for (unsigned i = 0; i < sizeof edges / sizeof *edges; i++)
                for (int count = 0; count <= 4; count++) {
                    int fd = start(call, modes[m]);
                    LABEL("mode %d %s array %u of %d", m, names[call], i, count);
                    if (i >= 4) {
                        memcpy(edges[i], (struct iovec[]){{good, 10}, {good + 20, 10}}, 32);
                    }
                    R(make(call, fd, edges[i], count, 4000, 0));
                    end(fd);
                }
            if (call < PREADV) continue;
            /* Offsets and flags. */
            const off_t offsets[] = {-2, -1, 0, SIZE, SIZE * 2, INT64_MAX - 30, INT64_MAX - 14, INT64_MAX, INT64_MIN};
            const int flags[] = {0, 1, 2, 4, 8, 16, 0x20, 0x40, 0x80, 0x100, -1, 0x30, 0x18, 6};
            for (unsigned i = 0; i < sizeof offsets / sizeof *offsets; i++)
                for (unsigned j = 0; j < sizeof flags / sizeof *flags; j++) {
                    if (call < PREADV2 && j) continue;
                    /* Far writes make only heat; what the kernel knows of the file's pages is its own affair. */
                    if (is_write(call) && offsets[i] > 1 << 30 && offsets[i] < INT64_MAX - 14) continue;
                    if (flags[j] == 8 && !is_write(call)) continue;
                    int fd = start(call, modes[m]);
                    LABEL("mode %d %s at %llx flags %x", m, names[call], (long long)offsets[i], flags[j]);
                    pattern(good, sizeof good, 3);
                    R(make(call, fd, many, 2, offsets[i], flags[j]));
                    if (!is_write(call)) line("   %06lx", digest(good, 14));
                    R(make(call, fd, many, 0, offsets[i], flags[j]));
                    R(make(call, fd, many, -1, offsets[i], flags[j]));
                    end(fd);
                }
        }
    /* What is no file that moves bytes at an offset. */
    int pipes[2], others[6];
    NEED(pipe2(pipes, O_NONBLOCK));
    others[0] = pipes[0];
    others[1] = pipes[1];
    others[2] = NEED(open(".", O_RDONLY));
    others[3] = NEED(open("file", O_PATH));
    others[4] = 1000000;
    others[5] = -1;
    for (int call = 0; call < CALLS; call++)
        for (int i = 0; i < 6; i++) {
            LABEL("%s other %d", names[call], i);
            R(make(call, others[i], many, 2, 0, 0));
            R(make(call, others[i], many, 0, -5, 0));
            R(make(call, others[i], 0, 1, -1, 0));
        }
    return 0;
}
