/* A fast timer's handler does I/O on the file that it interrupts and on others. */
#include "case.h"
#include <sys/time.h>
#include <time.h>
static int f, g, logf_;
static volatile long ticks, bad;
static volatile int where;
static long total;
static void handler(int s) {
    int e = errno;
    char b[64];
    long n = ticks++;
    if (pwrite(f, "HHHHHHHH", 8, 1000000 + (n % 1000) * 8) != 8) bad++;
    if (pread(f, b, 8, 1000000 + (n % 1000) * 8) != 8 || memcmp(b, "HHHHHHHH", 8)) bad++;
    if (n % 3 == 0) {
        if (write(g, "tick\n", 5) != 5) bad++;
        total += 5;
    }
    if (n % 7 == 0) {
        int h = open("other", O_RDWR | O_CREAT, 0644);
        if (h < 0)
            bad++;
        else {
            if (write(h, "abc", 3) != 3) bad++;
            lseek(h, 0, SEEK_SET);
            if (read(h, b, 3) != 3 || memcmp(b, "abc", 3)) bad++;
            struct stat st;
            if (fstat(h, &st) || st.st_size < 3) bad++;
            if (close(h)) bad++;
        }
    }
    if (n % 11 == 0) {
        off_t at = lseek(g, 0, SEEK_CUR);
        if (at != total) bad++;
    }
    if (n % 97 == 0) {
        pid_t p = fork();
        if (p == 0) {
            pwrite(f, "C", 1, 2000000);
            _exit(0);
        }
        waitpid(p, 0, 0);
    }
    errno = e;
}
int main(int argc, char **argv) {
    f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    g = open("g", O_RDWR | O_CREAT | O_TRUNC, 0644);
    struct sigaction sa = {0};
    sa.sa_handler = handler;
    sa.sa_flags = SA_RESTART | (argc > 1 ? SA_ONSTACK : 0);
    sigaction(SIGALRM, &sa, 0);
    if (argc > 1) {
        stack_t ss = {.ss_sp = malloc(32768), .ss_size = 32768};
        sigaltstack(&ss, 0);
    }
    struct itimerval it = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &it, 0);
    char b[3000];
    memset(b, 'm', sizeof b);
    struct timespec t0, t;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    long i = 0;
    do {
        off_t at = (i % 300) * 3000;
        SAME(pwrite(f, b, 3000, at), 3000);
        char c[3000];
        SAME(pread(f, c, 3000, at), 3000);
        CHECK(!memcmp(b, c, 3000));
        if (i % 5 == 0) {
            lseek(f, at, SEEK_SET);
            SAME(write(f, b, 3000), 3000);
            SAME(lseek(f, 0, SEEK_CUR), at + 3000);
        }
        if (i % 9 == 0) {
            int h = open("third", O_RDWR | O_CREAT | O_APPEND, 0644);
            CHECK(h >= 0);
            SAME(write(h, "z", 1), 1);
            SAME(close(h), 0);
        }
        if (i % 50 == 0) SAME(fsync(f), 0);
        if (i % 77 == 0) {
            CHECK(ftruncate(f, 1000000 - 1) == 0 || 1);
        }
        i++;
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while (t.tv_sec - t0.tv_sec < 2);
    memset(&it, 0, sizeof it);
    setitimer(ITIMER_REAL, &it, 0);
    struct stat st;
    fstat(g, &st);
    SAME(st.st_size, total);
    char *all = malloc(total);
    SAME(pread(g, all, total, 0), total);
    for (long k = 0; k < total; k++) CHECK(all[k] == "tick\n"[k % 5]);
    fstat(f, &st);
    char *w = malloc(900000);
    SAME(pread(f, w, 900000, 0), 900000);
    for (int k = 0; k < 900000; k++) CHECK(w[k] == 'm');
    CHECK(ticks > 50);
    SAME(bad, 0);
    puts("fine");
    unlink("f");
    unlink("g");
    unlink("third");
    return 0;
}
