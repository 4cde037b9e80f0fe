/* Counts above 2 GiB, offsets below zero, and nothing at all. */
#include "case.h"
int main(int argc, char **argv) {
    const size_t three = 3UL << 30, piece = 2 << 20;
    /* 3 GiB of addresses over 2 MiB of memory. */
    int m = MUST(memfd_create("piece", 0));
    MUST(ftruncate(m, piece));
    char *big = mmap(NULL, three, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t at = 0; at < three; at += piece)
        if (mmap(big + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m, 0) == MAP_FAILED) return 2;
    char b[8];
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    SAY(write(f, "start", 5));
    SAY(ftruncate(f, three + 100));
    SAY(lseek(f, 0, SEEK_SET));
    SAY(read(f, big, three));
    SAY(lseek(f, 0, SEEK_CUR));
    SAY(pread(f, big, three, 10));
    struct iovec v[2] = {{big, three / 2}, {big + three / 2, three / 2}};
    SAY(preadv(f, v, 2, 0));
    v[1].iov_len = (size_t)1 << 63;
    SAY(readv(f, v, 2));
    SAY(lseek(f, 0, SEEK_SET));
    int g = MUST(open("g", O_RDWR | O_CREAT, 0644));
    SAY(ftruncate(f, 100000));
    SAY(copy_file_range(f, NULL, g, NULL, 9223372035781033984, 0));
    SAY(lseek(f, 0, SEEK_CUR));
    SAY(copy_file_range(f, NULL, g, NULL, 9223372035781033984, 0));
    SAY(pread(f, b, 1, -1));
    SAY(pwrite(f, b, 1, -1));
    SAY(pread(f, b, 1, 0x7fffffffffffffff));
    SAY(pwrite(f, b, 2, 0x7fffffffffffffff));
    SAY(pread(f, b, -1, 0));
    SAY(read(f, b, 0));
    SAY(write(f, b, 0));
    SAY(pwrite(f, b, 0, 1 << 30));
    SAY(lseek(f, 0, SEEK_END));
    int r = MUST(open("f", O_RDONLY)), w = MUST(open("f", O_WRONLY));
    SAY(write(r, b, 0));
    SAY(read(w, b, 0));
    SAY(read(99, b, 0));
    SAY(read(f, NULL, 0));
    if (argc > 1) {
        SAY(lseek(f, 0, SEEK_SET));
        SAY(write(f, big, three));
        SAY(lseek(f, 0, SEEK_CUR));
        SAY(ftruncate(f, 7));
    }
    return 0;
}
