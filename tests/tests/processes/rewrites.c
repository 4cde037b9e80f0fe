/* A handler has the file flushed whose dirty bytes the interrupted write is just changing: those count as dirty afterwards. */
#include "case.h"
#include <sys/time.h>
static int f;
static volatile long ticks, bad;
static volatile int armed;
static struct itimerval soon = {{0, 0}, {0, 70}}, off;
static void handler(int s) {
    int e = errno;
    ticks++;
    if (fsync(f)) bad++;
    if (ticks % 5 == 0) {
        struct stat st;
        if (fstat(f, &st)) bad++;
    }
    /* Only now the next one: a handler takes longer than what it interrupts. */
    if (armed) setitimer(ITIMER_REAL, &soon, 0);
    errno = e;
}
int main(int argc, char **argv) {
    static char b[60000];
    on_alarm(handler);
    int k = 0;
    do {
        char name[16];
        sprintf(name, "f%d", k % 50);
        f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
        CHECK(f >= 0);
        armed = 1;
        setitimer(ITIMER_REAL, &soon, 0);
        for (int i = 0; i < 12; i++) {
            memset(b, 'a' + (k + i) % 26, sizeof b);
            SAME(pwrite(f, b, sizeof b, 0), sizeof b);
        }
        armed = 0;
        setitimer(ITIMER_REAL, &off, 0);
        SAME(close(f), 0);
        /* Past the preload: what is in the file now. */
        char command[100];
        if (k % 10 == 0) {
            sprintf(command, "busybox cmp %s last", name);
            int l = open("last", O_WRONLY | O_CREAT | O_TRUNC, 0644);
            SAME(write(l, b, sizeof b), sizeof b);
            SAME(close(l), 0);
            SAME(system(command), 0);
        }
        k++;
    } while (within(3));
    CHECK(ticks > 50);
    SAME(bad, 0);
    puts("fine");
    return system("rm -f f* last");
}
