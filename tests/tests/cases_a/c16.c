/* Threads that append with descriptors of their own; each line whole, none lost. */
#include "case.h"
#include <pthread.h>

enum { THREADS = 6, LINES = 500, LENGTH = 88 };

static void *append(void *argument)
{
    int me = *(int *)argument;
    char line[LENGTH + 1];
    int f = open("threads", O_WRONLY | O_CREAT | O_APPEND, 0644);
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof line, "%d %04d ", me, i);
        memset(line + 7, 'a' + me, LENGTH - 8);
        line[LENGTH - 1] = '\n';
        if (i % 3 == 0) {
            struct iovec parts[2] = {{line, 40}, {line + 40, LENGTH - 40}};
            SAME(writev(f, parts, 2), LENGTH);
        } else if (i % 3 == 1) {
            /* On Linux a positioned write by an appending descriptor appends. */
            SAME(pwrite(f, line, LENGTH, 5), LENGTH);
        } else {
            SAME(write(f, line, LENGTH), LENGTH);
        }
    }
    SAME(close(f), 0);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        SAME(pthread_create(&threads[i], NULL, append, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int f = open("threads", O_RDONLY), me, count;
    char line[LENGTH + 1] = "";
    for (int i = 0; i < THREADS * LINES; i++) {
        SAME(read(f, line, LENGTH), LENGTH);
        SAME(sscanf(line, "%d %d", &me, &count), 2);
        SAME(count, next[me]++);
        for (int j = 7; j < LENGTH - 1; j++)
            SAME(line[j], 'a' + me);
        SAME(line[LENGTH - 1], '\n');
    }
    SAME(read(f, line, 1), 0);
    return unlink("threads");
}
