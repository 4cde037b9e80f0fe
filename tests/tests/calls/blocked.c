/* Bad pointers in threads that have blocked the signals by which they show. */
#include "case.h"
#include <pthread.h>
#include <sys/syscall.h>

static volatile int handled;

static void handler(int signal)
{
    handled = 1;
    _exit(9);
}

static void refused(long result)
{
    SAME(result, -1);
    SAME(errno, EFAULT);
}

static void try(int f)
{
    char bytes[8];
    void *bad = (void *)64;
    char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    SAME(munmap(edge + 4096, 4096), 0);
    refused(pread(f, bad, 8, 0));
    refused(pwrite(f, bad, 8, 0));
    refused(read(f, bad, 8));
    struct iovec vector[2] = {{bytes, 4}, {bad, 4}};
    refused(readv(f, bad, 2));
    SAME(preadv(f, vector, 2, 0), 4);
    SAME(pread(f, edge + 4092, 8, 0), 4);
    CHECK(memcmp(edge + 4092, "0123", 4) == 0);
    SAME(pread(f, bytes, 8, 2), 8);
    CHECK(memcmp(bytes, "23456789", 8) == 0);
    SAME(pwrite(f, bytes, 8, 2), 8);
}

static void *thread(void *f)
{
    try(*(int *)f);
    return NULL;
}

static void change(int how, int way)
{
    sigset_t set, old;
    sigfillset(&set);
    switch (way) {
    case 0: SAME(sigprocmask(how, &set, &old), 0); break;
    case 1: SAME(pthread_sigmask(how, &set, &set), 0); break;
    case 2: SAME(syscall(SYS_rt_sigprocmask, how, &set, NULL, 8), 0); break;
    case 3: how == SIG_BLOCK ? sighold(SIGSEGV), sighold(SIGBUS) : (sigrelse(SIGSEGV), sigrelse(SIGBUS)); break;
    }
}

int main(void)
{
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "01234", 5), 5);
    SAME(write(f, "56789", 5), 5);
    SAME(lseek(f, 0, SEEK_SET), 0);
    try(f);
    for (int way = 0; way < 4; way++) {
        change(SIG_BLOCK, way);
        try(f);
        /* A thread starts with the mask of its maker. */
        pthread_t t;
        SAME(pthread_create(&t, NULL, thread, &f), 0);
        SAME(pthread_join(t, NULL), 0);
        pid_t child = fork();
        if (child == 0) {
            try(f);
            _exit(0);
        }
        int status;
        SAME(waitpid(child, &status, 0), child);
        SAME(status, 0);
        change(SIG_UNBLOCK, way);
        try(f);
    }
    /* Dispositions that are set by number, and set back. */
    struct kernel_action {
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } old, ignored = {SIG_IGN}, mine = {handler, SA_RESTART};
    SAME(syscall(SYS_rt_sigaction, SIGSEGV, &mine, &old, 8), 0);
    try(f);
    SAME(handled, 0);
    SAME(syscall(SYS_rt_sigaction, SIGSEGV, &old, NULL, 8), 0);
    try(f);
    SAME(syscall(SYS_rt_sigaction, SIGSEGV, &ignored, NULL, 8), 0);
    try(f);
    SAME(syscall(SYS_rt_sigaction, SIGSEGV, &old, NULL, 8), 0);
    try(f);
    return close(f);
}
