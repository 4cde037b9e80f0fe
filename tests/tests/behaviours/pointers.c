/* Every call that moves bytes, with good, bad and half good memory, on descriptors of each kind, at odd offsets. */
#include "matrix.h"

#define SIZE 10000

struct memory { const char *name; char *base; };
static struct memory memories[8];
static int kinds;
static const size_t counts[] = {0, 1, 100, 5000, 200000, INT_MAX, 0x7fffffffffffffff, (size_t)-1};
static const off_t offsets[] = {-1, 0, 5000, SIZE - 1, SIZE, SIZE + 5000, 0x7fffffffffffffff, 0x7ffffffffffffffe, INT64_MIN};

enum { READ, WRITE, PREAD, PWRITE, READV, WRITEV, PREADV, PWRITEV, PREADV2, PWRITEV2, RAW_READ, RAW_WRITE, RAW_PREAD, RAW_PWRITE, CALLS };
static const char *names[] = {"read", "write", "pread", "pwrite", "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2",
                              "sys_read", "sys_write", "sys_pread", "sys_pwrite"};

static ssize_t make(int call, int fd, char *p, size_t n, off_t offset) {
    struct iovec iov[2] = {{p, n / 2}, {n / 2 < 300000 ? p + n / 2 : p, n - n / 2}};
    switch (call) {
    case READ: return read(fd, p, n);
    case WRITE: return write(fd, p, n);
    case PREAD: return pread(fd, p, n, offset);
    case PWRITE: return pwrite(fd, p, n, offset);
    case READV: return readv(fd, iov, 2);
    case WRITEV: return writev(fd, iov, 2);
    case PREADV: return preadv(fd, iov, 2, offset);
    case PWRITEV: return pwritev(fd, iov, 2, offset);
    case PREADV2: return preadv2(fd, iov, 2, offset, 0);
    case PWRITEV2: return pwritev2(fd, iov, 2, offset, 0);
    case RAW_READ: return syscall(SYS_read, fd, p, n);
    case RAW_WRITE: return syscall(SYS_write, fd, p, n);
    case RAW_PREAD: return syscall(SYS_pread64, fd, p, n, offset);
    default: return syscall(SYS_pwrite64, fd, p, n, offset);
    }
}

static int is_write(int call) {
    return call == WRITE || call == PWRITE || call == WRITEV || call == PWRITEV || call == PWRITEV2 || call == RAW_WRITE || call == RAW_PWRITE;
}

/* Calls that would write gigabytes of good memory, or far out, make nothing but heat. */
static int is_far(int call, size_t n, off_t offset, int positioned) {
    return is_write(call) && positioned && offset > 1 << 20 && n;
}

int main(int argc, char **argv) {
    static char good[400000];
    pattern(good, sizeof good, 9);
    char *reading = edge(4096);
    mprotect(reading, 4096, PROT_READ);
    char *half = edge(3000);
    memories[kinds++] = (struct memory){"good", good};
    memories[kinds++] = (struct memory){"null", 0};
    memories[kinds++] = (struct memory){"half", half};
    memories[kinds++] = (struct memory){"none", half + 3000};
    memories[kinds++] = (struct memory){"readonly", reading};
    memories[kinds++] = (struct memory){"kernel", (char *)0xffff800000001000};
    memories[kinds++] = (struct memory){"odd", (char *)0x0f00000000001000};
    memories[kinds++] = (struct memory){"last", (char *)-1};
    struct { const char *name; int flags; } modes[] = {{"rdwr", O_RDWR}, {"rdonly", O_RDONLY}, {"wronly", O_WRONLY}, {"append", O_RDWR | O_APPEND},
                                                     {"path", O_PATH}, {"sync", O_RDWR | O_SYNC}};
    int only = argc > 1 ? atoi(argv[1]) : -1;
    for (int mode = 0; mode < 6; mode++) {
        if (only >= 0 && mode != only) continue;
        for (int call = 0; call < CALLS; call++)
            for (int k = 0; k < kinds; k++)
                for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
                    for (unsigned o = 0; o < sizeof offsets / sizeof *offsets; o++) {
                        int positioned = (call >= PREAD && call <= PWRITE) || (call >= PREADV && call <= PWRITEV2) || call >= RAW_PREAD;
                        off_t offset = offsets[o];
                        size_t n = counts[c];
                        if (!positioned && (offset < 0 || offset > 20000)) continue;
                        /* Half-good memory of endless length and the like are the same at each offset. */
                        if (c > 4 && offset != 0 && offset < 20000) continue;
                        if (mode && (k == 3 || k == 6 || c == 2 || o == 3 || o == 7 || (c > 4 && k > 2) || (mode > 3 && k > 2))) continue;
                        if (memories[k].base == good && n > sizeof good / 2) continue;
                        if (is_far(call, n, offset, positioned)) continue;
                        if (left_out()) continue;
                        int fd;
                        if (mode == 4) {
                            settled("file", SIZE);
                            fd = NEED(open("file", O_PATH));
                        } else fd = dirty("file", SIZE, modes[mode].flags);
                        if (!positioned && mode != 4) lseek(fd, offset, SEEK_SET);
                        if (is_write(call)) pattern(good, sizeof good, call);
                        LABEL("%s %s %s %zx@%llx", modes[mode].name, names[call], memories[k].name, n, (long long)offset);
                        ssize_t got = R(make(call, fd, memories[k].base, n, offset));
                        if (got > 0 && !is_write(call)) {
                            size_t there = memories[k].base == half && got > 3000 ? 3000 : got;
                            line("%s   got %06lx", label_, digest(memories[k].base, there));
                        }
                        if (mode != 4) state(fd);
                        close(fd);
                        LABEL("%s after close", label_);
                        fd = NEED(open("file", O_RDONLY));
                        state(fd);
                        close(fd);
                    }
    }
    return 0;
}
