/* Mappings: what the kernel refuses, what they show of bytes written before and after, and what they do to a file. */
#include "matrix.h"

#define PAGE 4096

static sigjmp_buf back;
static void leap(int n) { siglongjmp(back, n); }

/* Touches a byte; says which signal came of it. */
static int touch(volatile char *p, int write) {
    int n = sigsetjmp(back, 1);
    if (n) return n;
    if (write) *p = 'T';
    else (void)*p;
    return 0;
}

/* A mapping of three pages between pages that are not there. */
static char *guarded(int fd, int kind) {
    char *p = (char *)NEED(mmap(0, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    return (char *)NEED(mmap(p + PAGE, 3 * PAGE, PROT_READ | PROT_WRITE, kind | MAP_FIXED, fd, 0));
}

int main(void) {
    struct sigaction act = {.sa_handler = leap};
    sigaction(SIGSEGV, &act, 0);
    sigaction(SIGBUS, &act, 0);
    const int modes[] = {O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_APPEND, O_PATH};
    const int protections[] = {PROT_NONE, PROT_READ, PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC, 0x80};
    const int kinds[] = {MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE, 0, MAP_SHARED | MAP_PRIVATE, MAP_SHARED_VALIDATE | 0x80000, MAP_PRIVATE | MAP_POPULATE,
                         MAP_SHARED | MAP_ANONYMOUS, MAP_PRIVATE | MAP_FIXED, MAP_SHARED | MAP_HUGETLB, MAP_SHARED | MAP_NORESERVE | MAP_POPULATE};
    const struct { size_t len; off_t offset; } places[] = {{PAGE, 0}, {0, 0}, {100, 0}, {PAGE * 4, 0}, {PAGE, PAGE}, {PAGE, 100}, {PAGE, -PAGE}, {PAGE, PAGE * 100},
                                                          {(size_t)-1, 0}, {PAGE, INT64_MAX & ~4095l}, {1ul << 46, 0}};
    for (int m = 0; m < 5; m++)
        for (int p = 0; p < 6; p++)
            for (int k = 0; k < 11; k++)
                for (int l = 0; l < 11; l++) {
                    if (left_out()) continue;
                    int fd = m == 4 ? (settled("file", 10000), open("file", O_PATH)) : dirty("file", 10000, modes[m]);
                    LABEL("mode %d protection %x kind %x len %zx offset %llx", m, protections[p], kinds[k], places[l].len, (long long)places[l].offset);
                    char *map;
                    map = (char *)OK(mmap(0, places[l].len, protections[p], kinds[k], fd, places[l].offset));
                    if (map != MAP_FAILED) {
                        R(touch(map, 0));
                        R(touch(map, 1));
                        if (l == 3) {
                            R(touch(map + 9999, 0));
                            R(touch(map + 12287, 0));
                            R(touch(map + 12288, 0));
                        }
                        munmap(map, places[l].len);
                    }
                    if (m < 4) state(fd);
                    close(fd);
                    fd = open("file", O_RDONLY);
                    state(fd);
                    close(fd);
                }
    /* Bytes before, beside and after. */
    int fd = dirty("file", 10000, O_RDWR);
    LABEL("beside");
    /* With nothing behind them. */
    char *shared = guarded(fd, MAP_SHARED), *private = guarded(fd, MAP_PRIVATE);
    line("%06lx %06lx", digest(shared, 10000), digest(private, 10000));
    R(pwrite(fd, "written", 7, 5000));
    line("%06lx %06lx", digest(shared, 10000), digest(private, 10000));
    memcpy(shared + 5003, "mapped", 6);
    private[5004] = 'P';
    R(pwrite(fd, "again", 5, 5006));
    line("%06lx %06lx", digest(shared, 10000), digest(private, 10000));
    state(fd);
    /* To and from the mapping, never over itself: that has no one result. */
    R(read(fd, shared + 5000, 3000));
    R(pwrite(fd, shared + 100, 3000, 4200));
    R(pread(fd, private, 3000, 4100));
    R(write(fd, private + 10, 2000));
    R(write(fd, private + 3 * PAGE - 100, 200));
    R(pwrite(fd, shared + 3 * PAGE - 100, 200, 0));
    state(fd);
    R(ftruncate(fd, 4000));
    R(touch(shared + 3999, 1));
    R(touch(shared + 4095, 1));
    R(touch(shared + 4096, 0));
    R(touch(private + 8192, 0));
    R(read(fd, shared + 4096, 100));
    R(pread(fd, shared + 4000, 200, 0));
    R(write(fd, shared + 4096, 100));
    R(pwrite(fd, shared + 4000, 200, 0));
    state(fd);
    R(ftruncate(fd, 12000));
    R(touch(shared + 4096, 1));
    state(fd);
    R(msync(shared, PAGE, MS_SYNC));
    R(msync(shared, PAGE, MS_ASYNC));
    R(msync(shared, PAGE, MS_INVALIDATE));
    R(msync(shared, PAGE, MS_SYNC | MS_ASYNC));
    R(msync(shared, PAGE, 0x100));
    R(msync(shared + 1, PAGE, MS_SYNC));
    R(msync(shared, 10 * PAGE * 1000, MS_SYNC));
    unsigned char there[16];
    R(mincore(shared, PAGE, there));
    R(mincore(shared + 1, PAGE, there));
    R(mincore(shared, PAGE, (void *)1));
    R(mincore(shared, (size_t)-1, there));
    for (int a = -1; a < 26; a++) {
        if (a == 24 || a == 25 || a == 20 || a == 21 || a == 9) continue;
        LABEL("advice %d", a);
        R(madvise(shared, PAGE, a));
        line("%06lx", digest(shared, PAGE));
    }
    R(pwrite(fd, "more", 4, 0));
    line("%06lx", digest(shared, PAGE));
    state(fd);
    /* A mapping outlives its descriptor, and grows. */
    LABEL("outlives");
    close(fd);
    shared[10] = 'O';
    fd = NEED(open("file", O_RDWR));
    state(fd);
    R(pwrite(fd, "new descriptor", 14, 8));
    line("%06lx %.14s", digest(shared, PAGE), shared + 8);
    char *moved = (char *)OK(mremap(shared, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE));
    R(ftruncate(fd, 5 * PAGE));
    R(touch(moved + 4 * PAGE, 1));
    state(fd);
    R(mprotect(moved, PAGE, PROT_READ));
    R(touch(moved, 1));
    R(read(fd, moved, 10));
    R(pread(fd, moved + PAGE - 10, 20, 0));
    R(munmap(moved, 5 * PAGE));
    munmap(private, 3 * PAGE);
    R(write(fd, "after", 5));
    state(fd);
    close(fd);
    int only = NEED(open("file", O_RDONLY));
    char *reading = (char *)NEED(mmap(0, PAGE, PROT_READ, MAP_SHARED, only, 0));
    R(mprotect(reading, PAGE, PROT_READ | PROT_WRITE));
    int writing = NEED(open("file", O_WRONLY));
    R(pwrite(writing, "through another", 15, 0));
    line("%06lx", digest(reading, PAGE));
    R(remap_file_pages(reading, PAGE, 0, 0, 0));
    state(only);
    /* Another process's memory. */
    struct iovec here = {label_ + 400, 15}, there_ = {reading, 15};
    R(process_vm_readv(getpid(), &here, 1, &there_, 1, 0));
    line("%.15s", label_ + 400);
    R(process_vm_writev(getpid(), &here, 1, &there_, 1, 0));
    R(process_vm_readv(getpid(), &here, 1, &(struct iovec){(void *)1, 15}, 1, 0));
    return 0;
}
