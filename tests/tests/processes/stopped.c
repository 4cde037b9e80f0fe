/* Processes are stopped in the middle of writing, again and again; others use the files meanwhile. */
#include "case.h"
#include <time.h>
int main(void) {
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644), g = open("app", O_RDWR | O_CREAT | O_APPEND, 0644);
    static char b[100000], c[100000];
    memset(b, 's', sizeof b);
    write(f, b, sizeof b);
    pid_t p = fork();
    if (!p) {
        for (;;) {
            pwrite(f, b, sizeof b, 0);
            pwrite(f, b, 100, 50000);
            write(g, "line\n", 5);
            fsync(f);
        }
    }
    srand(1);
    for (int i = 0; i < 40; i++) {
        usleep(1000 + rand() % 9000);
        SAME(kill(p, SIGSTOP), 0);
        int s;
        SAME(waitpid(p, &s, WUNTRACED), p);
        CHECK(WIFSTOPPED(s));
        struct timespec t0, t1;
        clock_gettime(CLOCK_MONOTONIC, &t0);
        SAME(pread(f, c, sizeof c, 0), sizeof c);
        CHECK(!memcmp(b, c, sizeof c));
        SAME(pwrite(f, b, 1000, i * 1000), 1000);
        int h = open("app", O_WRONLY | O_APPEND);
        SAME(write(h, "mine\n", 5), 5);
        CHECK(!fsync(h));
        close(h);
        CHECK(!fsync(f));
        SAME(waitpid(p, &s, WUNTRACED | WCONTINUED | WNOHANG), 0);
        clock_gettime(CLOCK_MONOTONIC, &t1);
        double d = t1.tv_sec - t0.tv_sec + (t1.tv_nsec - t0.tv_nsec) / 1e9;
        if (d > 10) printf("took %f\n", d);
        kill(p, SIGCONT);
        SAME(waitpid(p, &s, WCONTINUED), p);
        CHECK(WIFCONTINUED(s));
    }
    kill(p, SIGSTOP);
    usleep(10000);
    kill(p, SIGKILL);
    int s;
    waitpid(p, &s, 0);
    struct stat st;
    fstat(g, &st);
    char *all = malloc(st.st_size);
    SAME(pread(g, all, st.st_size, 0), st.st_size);
    long mine = 0;
    for (long i = 0; i < st.st_size; i += 5) {
        if (!memcmp(all + i, "mine\n", 5))
            mine++;
        else
            CHECK(!memcmp(all + i, "line\n", 5));
    }
    SAME(mine, 40);
    unlink("app");
    puts("fine");
    return 0;
}
