/* Processes made by calls that nothing sees, while other threads write files out: what those threads were in the middle of is not the child's. */
#include "case.h"
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

static volatile int stop;

static void *writes_out(void *name)
{
    int f = open(name, O_RDWR | O_CREAT, 0644);
    while (!stop) {
        SAME(pwrite(f, "thread", 6, 0), 6);
        SAME(fdatasync(f), 0);
    }
    close(f);
    return NULL;
}

static int child(void *unused)
{
    for (int i = 0; i < 3; i++) {
        int f = open("child", O_RDWR | O_CREAT | O_APPEND, 0644);
        CHECK(f >= 0);
        SAME(write(f, "one ", 4), 4);
        SAME(write(f, "two\n", 4), 4);
        SAME(close(f), 0);
    }
    _exit(0);
}

/* The bare system call: a fork that no function of libc takes part in. */
static long bare_fork(void)
{
    long result;
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_clone), "D"((long)SIGCHLD), "S"(0L), "d"(0L), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    static char stack[1 << 16] __attribute__((aligned(16)));
    char *names[2] = {"t0", "t1"};
    pthread_t threads[2];
    int late = 0;
    for (int i = 0; i < 2; i++)
        SAME(pthread_create(&threads[i], NULL, writes_out, names[i]), 0);
    usleep(20000);
    for (int i = 0; i < 60; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        pid_t pid = i % 2 ? bare_fork() : clone(child, stack + sizeof stack, SIGCHLD, NULL);
        if (pid == 0)
            child(NULL);
        CHECK(pid > 0);
        int status;
        SAME(waitpid(pid, &status, 0), pid);
        SAME(status, 0);
        clock_gettime(CLOCK_MONOTONIC, &to);
        late += to.tv_sec - from.tv_sec > 5;
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        SAME(pthread_join(threads[i], NULL), 0);
    SAME(late, 0);
    int f = open("child", O_RDONLY);
    SAME(lseek(f, 0, SEEK_END), 60 * 3 * 8);
    BYTES_AT(f, 60 * 3 * 8 - 8, "one two\n");
    return 0;
}
