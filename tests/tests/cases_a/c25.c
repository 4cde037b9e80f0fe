/* System calls by number: renames and data. */
#include "case.h"
#include <sys/syscall.h>

int main(void)
{
    char bytes[32] = "";
    int a = open("a", O_RDWR | O_CREAT | O_TRUNC, 0644), b = open("b", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(a, "bytes of a", 10), 10);
    SAME(write(b, "bytes of b", 10), 10);
    SAME(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 1), -1);
    SAME(errno, EEXIST);
    SAME(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "c", 1), 0);
    int c = open("c", O_RDONLY);
    BYTES_AT(c, 0, "bytes of a");
    SAME(access("a", F_OK), -1);
    /* Exchanged: each name has the other's bytes, and what is written goes along. */
    SAME(renameat2(AT_FDCWD, "b", AT_FDCWD, "c", 2), 0);
    SAME(write(a, "!", 1), 1);
    close(c);
    c = open("b", O_RDONLY);
    BYTES_AT(c, 0, "bytes of a!");
    SAME(close(a), 0);
    SAME(syscall(SYS_rename, "c", "b"), 0);
    close(c);
    c = open("b", O_RDONLY);
    BYTES_AT(c, 0, "bytes of b");

    SAME(syscall(SYS_write, b, "RAW", 3), 3);
    SAME(lseek(b, 0, SEEK_CUR), 13);
    BYTES_AT(b, 0, "bytes of bRAW");
    SAME(syscall(SYS_lseek, b, 9, SEEK_SET), 9);
    SAME(read(b, bytes, 4), 4);
    CHECK(memcmp(bytes, "bRAW", 4) == 0);
    SAME(syscall(SYS_pwrite64, b, "by number", 9, 20L), 9);
    SAME(syscall(SYS_pread64, b, bytes, 9, 20L), 9);
    CHECK(memcmp(bytes, "by number", 9) == 0);
    int o = syscall(SYS_openat, AT_FDCWD, "b", O_RDWR | O_APPEND);
    SAME(syscall(SYS_write, o, "end", 3), 3);
    struct iovec piece = {bytes, 3};
    SAME(syscall(SYS_preadv, b, &piece, 1, 29L, 0L), 3);
    CHECK(memcmp(bytes, "end", 3) == 0);
    SAME(syscall(SYS_ftruncate, b, 5), 0);
    SAME(lseek(o, 0, SEEK_END), 5);
    int d = syscall(SYS_dup, b);
    SAME(syscall(SYS_lseek, d, 0, SEEK_END), 5);
    SAME(lseek(b, 0, SEEK_CUR), 5);
    SAME(syscall(SYS_close, b), 0);
    SAME(write(d, ".", 1), 1);
    SAME(syscall(SYS_fsync, d), 0);
    BYTES_AT(o, 0, "bytes.");
    return 0;
}
