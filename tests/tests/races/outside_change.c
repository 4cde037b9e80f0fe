/* Somebody whom the shim does not see changes a file that is open and cached; then a write elsewhere is flushed. The next open sees the change. */
#include "race.h"

static long inline_call(long number, long a, long b, long c, long d)
{
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static char as[8192], bs[100], back[9000];

int main(void)
{
    memset(as, 'A', sizeof as);
    memset(bs, 'B', sizeof bs);
    int f = open("f", O_CREAT | O_RDWR | O_TRUNC, 0644);
    write(f, as, sizeof as);
    fsync(f);
    pread(f, back, sizeof back, 0);
    long g = inline_call(SYS_openat, AT_FDCWD, (long)"f", O_WRONLY, 0);
    inline_call(SYS_pwrite64, g, (long)bs, sizeof bs, 5000);
    inline_call(SYS_pwrite64, g, (long)bs, sizeof bs, sizeof as);
    inline_call(SYS_close, g, 0, 0, 0);
    pwrite(f, "CCC", 3, 0);
    fsync(f);
    close(f);
    f = open("f", O_RDWR | O_APPEND);
    long size = pread(f, back, sizeof back, 0);
    printf("size %ld: %.4s %.3s %.3s\n", size, back, back + 5000, back + 8192);
    write(f, "end", 3);
    close(f);
    printf("size %ld\n", real_size("f"));
    return 0;
}
