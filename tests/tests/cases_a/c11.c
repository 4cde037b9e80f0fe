/* Bytes written by a descriptor that may not read leave the rest of the page alone. */
#include "case.h"

int main(void)
{
    char block[8192], bytes[8192];
    memset(block, 'A', sizeof block);
    int f = open("wo", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    SAME(write(f, block, sizeof block), sizeof block);
    SAME(close(f), 0);
    SAME(chmod("wo", 0200), 0);
    f = open("wo", O_RDONLY);
    SAME(f == -1, geteuid() != 0);
    close(f);
    f = open("wo", O_WRONLY);
    CHECK(f >= 0);
    SAME(pwrite(f, "0123456789", 10, 100), 10);
    SAME(read(f, bytes, 1), -1);
    SAME(errno, EBADF);
    SAME(pread(f, bytes, 1, 100), -1);
    SAME(errno, EBADF);
    SAME(close(f), 0);
    SAME(chmod("wo", 0600), 0);
    f = open("wo", O_RDONLY);
    SAME(read(f, bytes, sizeof bytes), 8192);
    memcpy(block + 100, "0123456789", 10);
    CHECK(memcmp(bytes, block, sizeof block) == 0);
    SAME(read(f, bytes, 1), 0);
    SAME(write(f, "x", 1), -1);
    SAME(errno, EBADF);
    return 0;
}
