/* A handler leaves reads and writes by siglongjmp; the file goes on being usable by this and other processes.
 */
#include "case.h"
#include <setjmp.h>
#include <sys/time.h>
#include <time.h>
static sigjmp_buf back;
static volatile int armed;
static volatile long jumps;
static void handler(int s) {
    if (armed) {
        armed = 0;
        jumps++;
        siglongjmp(back, 1);
    }
}
int main(void) {
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644), g = open("app", O_RDWR | O_CREAT | O_APPEND, 0644);
    struct sigaction sa = {0};
    sa.sa_handler = handler;
    sigaction(SIGALRM, &sa, 0);
    struct itimerval it = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &it, 0);
    static char b[150000], c[150000];
    memset(b, 'm', sizeof b);
    struct timespec t0, t;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    long i = 0;
    SAME(pwrite(f, b, sizeof b, 0), sizeof b);
    do {
        i++;
        if (sigsetjmp(back, 1) == 0) {
            armed = 1;
            switch (i % 6) {
            case 0:
                pwrite(f, b, sizeof b, 0);
                break;
            case 1:
                pread(f, c, sizeof c, 0);
                break;
            case 2:
                write(g, b, 100);
                break;
            case 3:
                fsync(f);
                break;
            case 4:
                ftruncate(f, sizeof b);
                break;
            case 5: {
                struct stat st;
                fstat(f, &st);
            } break;
            }
            armed = 0;
        }
        if (i % 100 == 0) {
            struct itimerval z = {{0, 0}, {0, 0}};
            setitimer(ITIMER_REAL, &z, 0);
            armed = 0;
            pid_t p = fork();
            if (!p) {
                int h = open("f", O_RDWR);
                signal(SIGALRM, SIG_DFL);
                alarm(8);
                CHECK(h >= 0);
                SAME(pwrite(h, b, 1000, 70000), 1000);
                SAME(pread(h, c, sizeof c, 0), sizeof c);
                int a = open("app", O_WRONLY | O_APPEND);
                SAME(write(a, "q", 1), 1);
                CHECK(!ftruncate(h, sizeof b));
                CHECK(!fsync(h));
                close(h);
                close(a);
                _exit(0);
            }
            int st;
            waitpid(p, &st, 0);
            if (st) {
                printf("child %x after %s\n", st, "jumps");
                fflush(stdout);
                return 1;
            }
            setitimer(ITIMER_REAL, &it, 0);
        }
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while (t.tv_sec - t0.tv_sec < 3);
    struct itimerval z = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &z, 0);
    CHECK(jumps > 20);
    SAME(pread(f, c, sizeof c, 0), sizeof c);
    CHECK(!memcmp(b, c, sizeof b));
    close(f);
    close(g);
    unlink("app");
    puts("fine");
    return 0;
}
