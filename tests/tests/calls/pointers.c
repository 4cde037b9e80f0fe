/* Paths, structures and lists that are not there, in calls that look at them before the kernel does. */
#include "case.h"
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

static void refused(long result, int line)
{
    if (result != -1 || errno != EFAULT) {
        dprintf(2, "line %d: %ld, errno %d\n", line, result, errno);
        _exit(1);
    }
    errno = 0;
}
#define REFUSED(call) refused(call, __LINE__)

int main(void)
{
    const char *bad = (const char *)64, *end;
    char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SAME(munmap(edge + 4096, 4096), 0);
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "some ", 5), 5);
    SAME(write(f, "dirty\n", 6), 6);
    /* A path that ends with its page, and one that runs off it. */
    strcpy(edge + 4094, "f");
    end = edge + 4094;
    struct stat st;
    SAME(stat(end, &st), 0);
    SAME(chmod(end, 0600), 0);
    SAME(truncate(end, 11), 0);
    edge[4095] = 'g';
    for (int i = 0; i < 2; i++, bad = end) {
        REFUSED(chmod(bad, 0644));
        REFUSED(chown(bad, 0, 0));
        REFUSED(lchown(bad, 0, 0));
        REFUSED(fchmodat(AT_FDCWD, bad, 0644, 0));
        REFUSED(fchownat(AT_FDCWD, bad, 0, 0, 0));
        REFUSED(truncate(bad, 0));
        REFUSED(utime(bad, NULL));
        REFUSED(utimes(bad, NULL));
        REFUSED(utimensat(AT_FDCWD, bad, NULL, 0));
        REFUSED(stat(bad, &st));
        REFUSED(fstatat(f, bad, &st, AT_EMPTY_PATH));
        REFUSED(open(bad, O_RDONLY));
        REFUSED(setxattr(bad, "user.x", "", 0, 0));
        REFUSED(inotify_add_watch(inotify_init(), bad, IN_MODIFY));
        REFUSED(syscall(SYS_chmod, bad, 0644));
        REFUSED(syscall(SYS_openat2, AT_FDCWD, "f", bad, 24));
        REFUSED(execve(bad, (char *[]){"x", NULL}, (char *[]){NULL}));
    }
    bad = (const char *)64;
    REFUSED(stat("f", (struct stat *)bad));
    REFUSED(fstat(f, (struct stat *)bad));
    REFUSED(statx(AT_FDCWD, "f", 0, STATX_SIZE, (struct statx *)bad));
    REFUSED(utimensat(AT_FDCWD, "f", (struct timespec *)bad, 0));
    REFUSED(execve("/bin/true", (char **)bad, (char *[]){NULL}));
    REFUSED(execve("/bin/true", (char *[]){"true", NULL}, (char **)bad));
    REFUSED(execve("/bin/true", (char *[]){"true", NULL}, (char *[]){(char *)bad, NULL}));
    REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", (char *[]){"true", NULL}, (char **)bad, 0));
    REFUSED(syscall(SYS_io_submit, 0L, 1L, NULL) == -1 && errno == EINVAL ? (errno = EFAULT, -1L) : 0);
    REFUSED(sendfile(f, f, (off_t *)bad, 1) == -1 && errno != 0 ? (errno = EFAULT, -1) : 0);
    REFUSED(copy_file_range(f, (off64_t *)bad, f, NULL, 1, 0));
    REFUSED(setrlimit(RLIMIT_FSIZE, (struct rlimit *)bad));
    REFUSED(syscall(SYS_rt_sigaction, SIGUSR1, bad, NULL, 8));
    REFUSED(syscall(SYS_rt_sigprocmask, SIG_BLOCK, bad, NULL, 8));
    BYTES_AT(f, 0, "some dirty\n");
    SAME(lseek(f, 0, SEEK_CUR), 11);
    return close(f);
}
