/* Duplicated descriptors share one offset; a separate open has its own. */
#include "case.h"

int main(void)
{
    int f = open("ten", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "0123456789", 10), 10);
    SAME(lseek(f, 0, SEEK_SET), 0);
    int g = dup(f);
    int other = open("ten", O_RDWR);
    char bytes[8] = {0};
    SAME(read(f, bytes, 3), 3);
    SAME(lseek(g, 0, SEEK_CUR), 3);
    SAME(lseek(other, 0, SEEK_CUR), 0);
    SAME(close(f), 0);
    SAME(read(f, bytes, 1), -1);
    SAME(errno, EBADF);
    SAME(read(g, bytes, 2), 2);
    CHECK(memcmp(bytes, "34", 2) == 0);
    SAME(write(g, "XY", 2), 2);
    SAME(read(other, bytes, 8), 8);
    CHECK(memcmp(bytes, "01234XY7", 8) == 0);

    /* The other ways to duplicate. */
    int high = fcntl(g, F_DUPFD_CLOEXEC, 50);
    SAME(high, 50);
    SAME(dup2(g, 60), 60);
    SAME(dup3(g, 61, O_CLOEXEC), 61);
    SAME(dup2(g, g), g);
    SAME(lseek(60, 9, SEEK_SET), 9);
    SAME(lseek(50, 0, SEEK_CUR), 9);
    SAME(write(61, "Z", 1), 1);
    SAME(lseek(g, 0, SEEK_CUR), 10);
    /* A duplicate over an open descriptor closes it. */
    SAME(dup2(other, 60), 60);
    SAME(lseek(60, 0, SEEK_CUR), 8);
    SAME(close(g), 0);
    SAME(close(50), 0);
    SAME(write(61, "!", 1), 1);
    BYTES_AT(60, 0, "01234XY78Z!");
    return 0;
}
