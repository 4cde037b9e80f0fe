/* A thread with a descriptor table of its own, and a process that shares the table but not the memory. */
#include "case.h"
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

static int f;

static void *apart(void *unused)
{
    SAME(unshare(CLONE_FILES), 0);
    SAME(write(f, "thread ", 7), 7);
    SAME(close(f), 0);
    /* The number is free here, and here alone. */
    int g = open("g", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(g, f);
    SAME(write(g, "own ", 4), 4);
    SAME(write(g, "table\n", 6), 6);
    BYTES_AT(g, 0, "own table\n");
    return NULL;
}

static void *closes_apart(void *unused)
{
    SAME(syscall(SYS_close_range, 3, ~0U, 2), 0);
    SAME(write(f, "x", 1), -1);
    SAME(errno, EBADF);
    int g = open("h", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(g, 3);
    SAME(write(g, "by ", 3), 3);
    SAME(write(g, "range\n", 6), 6);
    BYTES_AT(g, 0, "by range\n");
    return NULL;
}

static int sharer(void *unused)
{
    SAME(write(f, "sharer ", 7), 7);
    SAME(close(f), 0);
    return 0;
}

int main(void)
{
    f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "some ", 5), 5);
    SAME(write(f, "dirty ", 6), 6);
    pthread_t thread;
    SAME(pthread_create(&thread, NULL, apart, NULL), 0);
    SAME(pthread_join(thread, NULL), 0);
    SAME(write(f, "main ", 5), 5);
    BYTES_AT(f, 0, "some dirty thread main ");
    /* The same by a range of closes. */
    SAME(pthread_create(&thread, NULL, closes_apart, NULL), 0);
    SAME(pthread_join(thread, NULL), 0);
    SAME(write(f, "on ", 3), 3);
    BYTES_AT(f, 0, "some dirty thread main on ");
    char *stack = malloc(1 << 16);
    pid_t child = clone(sharer, stack + (1 << 16), CLONE_FILES | SIGCHLD, NULL);
    CHECK(child > 0);
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    /* Closed by the child, for both. */
    SAME(write(f, "x", 1), -1);
    SAME(errno, EBADF);
    SAME(open("f", O_WRONLY | O_APPEND), f);
    SAME(write(f, "end\n", 4), 4);
    return 0;
}
