/* Threads that write a script, close it and run it at once. */
#include "case.h"
#include <pthread.h>

enum { THREADS = 8, ROUNDS = 125 };

/* As every launcher has to: no fork while another thread has a program open for writing. */
static pthread_rwlock_t forking = PTHREAD_RWLOCK_INITIALIZER;

static int run(const char *path)
{
    int status;
    pthread_rwlock_wrlock(&forking);
    pid_t child = fork();
    if (child == 0) {
        execl(path, path, (char *)NULL);
        _exit(errno == ETXTBSY ? 126 : 127);
    }
    pthread_rwlock_unlock(&forking);
    SAME(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void *work(void *argument)
{
    long me = (long)argument;
    char name[32], text[64];
    snprintf(name, sizeof name, "./fresh%ld", me);
    for (int round = 0; round < ROUNDS; round++) {
        int length = snprintf(text, sizeof text, "#!/bin/dash\nexit %d\n", (int)(me * 10 + round % 10));
        pthread_rwlock_rdlock(&forking);
        unlink(name);
        int f = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
        CHECK(f >= 0);
        SAME(write(f, text, length), length);
        SAME(close(f), 0);
        pthread_rwlock_unlock(&forking);
        SAME(run(name), me * 10 + round % 10);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        SAME(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    /* While the program itself has it open for writing, and only then, it is busy. */
    int f = open("./fresh0", O_WRONLY | O_APPEND | O_CLOEXEC);
    SAME(write(f, "# more\n", 7), 7);
    SAME(run("./fresh0"), 126);
    SAME(close(f), 0);
    SAME(run("./fresh0"), (ROUNDS - 1) % 10);
    /* Written through a stream, and by a descriptor that a reader outlives. */
    f = open("./fresh1", O_RDONLY);
    FILE *stream = fopen("./fresh1", "w");
    fprintf(stream, "#!/bin/dash\nexit 77\n");
    SAME(fclose(stream), 0);
    SAME(run("./fresh1"), 77);
    SAME(close(f), 0);
    return 0;
}
