/* Threads that write while the process forks; then streams and descriptors over one file. */
#include "case.h"
#include <pthread.h>

static volatile int stop;

static void *writes(void *name)
{
    while (!stop) {
        int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
        CHECK(f >= 0);
        SAME(write(f, "thread", 6), 6);
        SAME(write(f, "s", 1), 1);
        BYTES_AT(f, 0, "threads");
        SAME(close(f), 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    char names[4][8] = {"t0", "t1", "t2", "t3"};
    for (int i = 0; i < 4; i++)
        SAME(pthread_create(&threads[i], NULL, writes, names[i]), 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(10);
            int f = open("child", O_RDWR | O_CREAT | O_APPEND, 0644);
            SAME(write(f, "line\n", 5), 5);
            if (i % 10 == 0)
                execlp("sh", "sh", "-c", "echo shell >> child", NULL);
            _exit(close(f));
        }
        int status;
        SAME(waitpid(child, &status, 0), child);
        SAME(status, 0);
    }
    stop = 1;
    for (int i = 0; i < 4; i++)
        SAME(pthread_join(threads[i], NULL), 0);
    FILE *s = fopen("stream", "w+");
    CHECK(fprintf(s, "one ") == 4 && fflush(s) == 0);
    SAME(write(fileno(s), "two ", 4), 4);
    CHECK(fseek(s, 0, SEEK_END) == 0 && fprintf(s, "three") == 5 && fflush(s) == 0);
    BYTES_AT(fileno(s), 0, "one two three");
    return fclose(s);
}
