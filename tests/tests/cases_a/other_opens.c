/* Opens that cut a file with bytes in the pool, by names that programs rarely spell out. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int __open_2(const char *, int);
int __openat64_2(int, const char *, int);

static char block[5000];

static void filled(int f)
{
    pwrite(f, "x", 1, 0);
    pwrite(f, block, sizeof block, 0);
}

static void say(const char *name, int f, int g)
{
    struct stat st;
    fstat(f, &st);
    printf("%s %d: %ld %ld\n", name, g >= 0, (long)st.st_size, (long)lseek(f, 0, SEEK_END));
    close(g);
}

int main(void)
{
    struct open_how how = { .flags = O_RDONLY | O_TRUNC };
    int f = open("f", O_RDWR | O_CREAT, 0644);
    filled(f);
    say("openat2", f, syscall(SYS_openat2, AT_FDCWD, "f", &how, sizeof how));
    filled(f);
    say("__open_2", f, __open_2("f", O_WRONLY | O_TRUNC));
    filled(f);
    say("__openat64_2", f, __openat64_2(AT_FDCWD, "f", O_RDWR | O_TRUNC));
    filled(f);
    say("creat", f, creat("f", 0644));
    write(f, "end", 3);
    return 0;
}
