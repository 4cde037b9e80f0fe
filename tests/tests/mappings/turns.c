/* One thread maps, writes and unmaps all the time, beside threads and a process that write, append and read: nobody's write is lost,
   and nobody reads less than he has written. */
#define _GNU_SOURCE
#include "case.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { SLOTS = 6, STRIDE = 1000, LINES = 400, LINE = 50, HEAD = 65536 * 2 };

static volatile int over;

static void *mapper(void *unused)
{
    int fd = open("f", O_RDWR);
    for (long n = 1; !over; n++) {
        char *m = mmap(0, HEAD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        CHECK(m != MAP_FAILED);
        memcpy(m + 70000, &n, sizeof n);
        CHECK(munmap(m, HEAD) == 0);
        long seen;
        CHECK(pread(fd, &seen, sizeof seen, 70000) == sizeof seen);
        CHECK(seen == n);
        n++;
        CHECK(pwrite(fd, &n, sizeof n, 70000) == sizeof n);
        m = mmap(0, HEAD, PROT_READ, MAP_SHARED, fd, 0);
        memcpy(&seen, m + 70000, sizeof seen);
        CHECK(seen == n);
        CHECK(munmap(m, HEAD) == 0);
        if (n % 16 == 0)
            usleep(100);
    }
    close(fd);
    return unused;
}

static void *slot(void *arg)
{
    off_t at = (long)arg * STRIDE;
    int fd = open("f", O_RDWR);
    for (long n = 1; n < 3000; n++) {
        long seen;
        CHECK(pwrite(fd, &n, sizeof n, at) == sizeof n);
        CHECK(pread(fd, &seen, sizeof seen, at) == sizeof seen);
        CHECK(seen == n);
    }
    close(fd);
    return 0;
}

static void *appender(void *arg)
{
    char line[LINE + 1];
    int fd = open("f", O_WRONLY | O_APPEND);
    for (int n = 0; n < LINES; n++) {
        memset(line, (int)(long)arg, LINE);
        snprintf(line, 8, "%c%06d", (int)(long)arg, n);
        line[7] = ' ', line[LINE - 1] = '\n';
        CHECK(write(fd, line, LINE) == LINE);
    }
    close(fd);
    return 0;
}

int main(void)
{
    static char zeros[HEAD];
    int fd = open("f", O_CREAT | O_RDWR, 0644);
    CHECK(write(fd, zeros, HEAD) == HEAD);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t own[3];
        pthread_create(&own[0], 0, slot, (void *)0L);
        pthread_create(&own[1], 0, slot, (void *)1L);
        pthread_create(&own[2], 0, appender, (void *)(long)'c');
        for (int i = 0; i < 3; i++)
            pthread_join(own[i], 0);
        _exit(0);
    }
    pthread_t map, own[5];
    pthread_create(&map, 0, mapper, 0);
    pthread_create(&own[0], 0, slot, (void *)2L);
    pthread_create(&own[1], 0, slot, (void *)3L);
    pthread_create(&own[2], 0, slot, (void *)66L);
    pthread_create(&own[3], 0, appender, (void *)(long)'a');
    pthread_create(&own[4], 0, appender, (void *)(long)'b');
    for (int i = 0; i < 5; i++)
        pthread_join(own[i], 0);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    over = 1;
    pthread_join(map, 0);

    static char text[3 * LINES * LINE + 1];
    CHECK(lseek(fd, 0, SEEK_END) == HEAD + 3 * LINES * LINE);
    CHECK(pread(fd, text, sizeof text, HEAD) == 3 * LINES * LINE);
    int next[3] = {0};
    for (int i = 0; i < 3 * LINES; i++) {
        const char *line = text + i * LINE;
        int who = line[0] - 'a';
        CHECK(who >= 0 && who < 3 && line[LINE - 1] == '\n');
        CHECK(atoi(line + 1) == next[who]++);
    }
    CHECK(ftruncate(fd, 0) == 0);
    return 0;
}
