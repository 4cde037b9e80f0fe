/* A handler writes further on in the page that the interrupted write is in the middle of, beyond the buffers that the page has. */
#include "case.h"
#include <sys/time.h>
static int f;
static volatile long ticks, bad;
static void handler(int s) {
    int e = errno;
    ticks++;
    if (pwrite(f, "further", 7, 30000) != 7) bad++;
    char b[7];
    if (pread(f, b, 7, 30000) != 7 || memcmp(b, "further", 7)) bad++;
    errno = e;
}
int main(void) {
    on_alarm(handler);
    char b[4000], c[4000];
    unsigned k = 0;
    do {
        f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
        CHECK(f >= 0);
        SAME(pwrite(f, b, sizeof b, 0), sizeof b);
        long before = ticks;
        struct itimerval soon = {{0, 0}, {0, 20 + k % 100}};
        setitimer(ITIMER_REAL, &soon, 0);
        for (int i = 0; ticks == before || i % 4; i++) {
            memset(b, 'a' + (k + i) % 26, sizeof b);
            SAME(pwrite(f, b, sizeof b, 0), sizeof b);
            SAME(pread(f, c, sizeof c, 0), sizeof c);
            CHECK(!memcmp(b, c, sizeof b));
        }
        SAME(pread(f, c, 7, 30000), 7);
        CHECK(!memcmp(c, "further", 7));
        SAME(close(f), 0);
        k++;
    } while (within(3));
    CHECK(ticks > 50);
    SAME(bad, 0);
    SAME(unlink("f"), 0);
    puts("fine");
    return 0;
}
