/* A handler starts a program that uses the very file which the interrupted call is writing or reading, and waits for it. */
#include "case.h"
#include <sys/time.h>
static volatile long ticks, bad;
static volatile int armed;
static struct itimerval soon = {{0, 0}, {0, 300}};
static void handler(int s) {
    int e = errno;
    ticks++;
    pid_t p = fork();
    if (p == 0) {
        execl("/bin/sh", "sh", "-c", "printf x >>f && cat f >copy && head -c 100 copy >f2", (char *)0);
        _exit(127);
    }
    int status = -1;
    if (waitpid(p, &status, 0) != p || status) bad++;
    soon.it_value.tv_usec = 200 + ticks * 37 % 3000;
    if (armed) setitimer(ITIMER_REAL, &soon, 0);
    errno = e;
}
int main(void) {
    on_alarm(handler);
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(f >= 0);
    static char b[300000], c[300000];
    armed = 1;
    setitimer(ITIMER_REAL, &soon, 0);
    int k = 0;
    do {
        memset(b, 'a' + k % 26, sizeof b);
        SAME(pwrite(f, b, sizeof b, 0), sizeof b);
        SAME(pread(f, c, sizeof c, 0), sizeof c);
        CHECK(!memcmp(b, c, sizeof b));
        if (k % 3 == 0) SAME(fdatasync(f), 0);
        if (k % 5 == 0) CHECK(!ftruncate(f, sizeof b));
        if (k % 7 == 0) {
            int d = open("f", O_WRONLY | O_APPEND);
            SAME(write(d, "end", 3), 3);
            SAME(close(d), 0);
        }
        k++;
    } while (within(4));
    armed = 0;
    setitimer(ITIMER_REAL, &(struct itimerval){0}, 0);
    CHECK(ticks > 20);
    SAME(bad, 0);
    SAME(close(f), 0);
    unlink("f");
    unlink("f2");
    unlink("copy");
    puts("fine");
    return 0;
}
