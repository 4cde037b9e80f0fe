/* Record locks whose ranges count from the offset or from the end of a file with bytes that are not in it yet. */
#include "case.h"
#include <pthread.h>
#include <sys/file.h>

/* Where a lock of another process begins and ends, seen from a child; 0 0 when there is none. */
static void seen(long from, long to)
{
    pid_t child = fork();
    if (child == 0) {
        int f = open("f", O_RDWR);
        struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        SAME(fcntl(f, F_GETLK, &l), 0);
        if (l.l_type == F_UNLCK) {
            SAME(from, 0);
            SAME(to, 0);
            SAME(l.l_whence, SEEK_SET);
        } else {
            SAME(l.l_start, from);
            SAME(l.l_len, to - from);
            SAME(l.l_pid, getppid());
        }
        _exit(0);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
}

static void drop(int f)
{
    struct flock l = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    SAME(fcntl(f, F_SETLK, &l), 0);
    seen(0, 0);
}

int main(void)
{
    char bytes[1000];
    memset(bytes, 'x', sizeof bytes);
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, bytes, 400), 400);
    SAME(write(f, bytes, 600), 600);
    SAME(lseek(f, 300, SEEK_SET), 300);
    struct flock here = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = 10, .l_len = 20};
    SAME(fcntl(f, F_SETLK, &here), 0);
    SAME(here.l_whence, SEEK_CUR);
    SAME(here.l_start, 10);
    seen(310, 330);
    drop(f);
    struct flock back = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -100, .l_len = 50};
    SAME(fcntl(f, F_SETLKW, &back), 0);
    seen(900, 950);
    drop(f);
    struct flock open_lock = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -1, .l_len = 1};
    SAME(fcntl(f, F_OFD_SETLK, &open_lock), 0);
    open_lock.l_type = F_UNLCK;
    SAME(fcntl(f, F_OFD_SETLK, &open_lock), 0);
    /* What the kernel refuses. */
    here.l_start = -301;
    SAME(fcntl(f, F_SETLK, &here), -1);
    SAME(errno, EINVAL);
    here.l_start = LONG_MAX;
    SAME(fcntl(f, F_SETLK, &here), -1);
    SAME(errno, EOVERFLOW);
    here.l_whence = 7;
    SAME(fcntl(f, F_SETLK, &here), -1);
    SAME(errno, EINVAL);
    SAME(fcntl(f, F_SETLK, (void *)8), -1);
    SAME(errno, EFAULT);
    /* lockf. */
    SAME(lseek(f, 500, SEEK_SET), 500);
    SAME(lockf(f, F_LOCK, 100), 0);
    seen(500, 600);
    SAME(lockf(f, F_TEST, 100), 0);
    SAME(lseek(f, 550, SEEK_SET), 550);
    SAME(lockf(f, F_ULOCK, 0), 0);
    seen(500, 550);
    SAME(lockf(f, F_TLOCK, -550), 0);
    seen(0, 550);
    SAME(lockf(f, 9, 1), -1);
    SAME(errno, EINVAL);
    pid_t child = fork();
    if (child == 0) {
        SAME(lseek(f, 540, SEEK_SET), 540);
        SAME(lockf(f, F_TEST, 1), -1);
        SAME(errno, EACCES);
        SAME(lockf(f, F_TLOCK, 1), -1);
        CHECK(errno == EAGAIN || errno == EACCES);
        SAME(lseek(f, 550, SEEK_SET), 550);
        SAME(lockf(f, F_TEST, 1), 0);
        struct flock mine = {.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_start = -3, .l_len = 1, .l_pid = 77};
        SAME(fcntl(f, F_GETLK, &mine), 0);
        SAME(mine.l_type, F_WRLCK);
        SAME(mine.l_whence, SEEK_SET);
        SAME(mine.l_start, 0);
        SAME(mine.l_len, 550);
        struct flock beyond = {.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_start = 5, .l_len = 1, .l_pid = 77};
        SAME(fcntl(f, F_GETLK, &beyond), 0);
        SAME(beyond.l_type, F_UNLCK);
        SAME(beyond.l_whence, SEEK_CUR);
        SAME(beyond.l_start, 5);
        SAME(beyond.l_pid, 77);
        _exit(0);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    SAME(flock(f, LOCK_EX | LOCK_NB), 0);
    SAME(lseek(f, 0, SEEK_CUR), 550);
    return close(f);
}
