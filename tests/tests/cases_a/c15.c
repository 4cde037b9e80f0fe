/* truncate by path counts for bytes that an open descriptor has not flushed. */
#include "case.h"

int main(void)
{
    char block[4096], bytes[8192];
    memset(block, 'A', sizeof block);
    int f = open("t", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, block, sizeof block), sizeof block);
    SAME(truncate("t", 8), 0);
    struct stat seen;
    SAME(fstat(f, &seen), 0);
    SAME(seen.st_size, 8);
    SAME(pread(f, bytes, sizeof bytes, 0), 8);
    SAME(write(f, "0123456789", 10), 10);
    SAME(fsync(f), 0);
    SAME(close(f), 0);
    f = open("t", O_RDWR);
    SAME(read(f, bytes, sizeof bytes), 4106);
    for (int i = 0; i < 4096; i++)
        SAME(bytes[i], i < 8 ? 'A' : 0);
    CHECK(memcmp(bytes + 4096, "0123456789", 10) == 0);

    /* By another process; by open with O_TRUNC; by growth. */
    SAME(pwrite(f, block, sizeof block, 0), sizeof block);
    SAME(system("truncate -s 100 t"), 0);
    SAME(lseek(f, 0, SEEK_END), 100);
    SAME(truncate("t", 200), 0);
    SAME(pread(f, bytes, sizeof bytes, 0), 200);
    for (int i = 0; i < 200; i++)
        SAME(bytes[i], i < 100 ? 'A' : 0);
    SAME(pwrite(f, block, 300, 0), 300);
    int g = open("t", O_WRONLY | O_TRUNC);
    SAME(lseek(f, 0, SEEK_END), 0);
    SAME(pread(f, bytes, 1, 0), 0);
    SAME(write(g, "fresh", 5), 5);
    SAME(pwrite(f, "!", 1, 9), 1);
    SAME(close(g), 0);
    SAME(system(": > other; echo x > other; : > other"), 0);
    SAME(pread(f, bytes, sizeof bytes, 0), 10);
    CHECK(memcmp(bytes, "fresh\0\0\0\0!", 10) == 0);
    return 0;
}
