/* Threads are cancelled, deferred and asynchronous, in the middle of their I/O; the others go on and the
 * files are whole. */
#include "case.h"
#include <pthread.h>
#include <time.h>
static int f, app;
static volatile long ok;
static void *victim(void *a) {
    int how = (long)a;
    int old;
    pthread_setcanceltype(how & 1 ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, &old);
    static __thread char b[70000];
    memset(b, 'v', sizeof b);
    for (long i = 0;; i++) {
        switch (how >> 1) {
        case 0:
            pwrite(f, b, sizeof b, 0);
            break;
        case 1:
            pread(f, b, sizeof b, 0);
            memset(b, 'v', sizeof b);
            break;
        case 2:
            write(app, "line\n", 5);
            break;
        case 3: {
            int o;
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &o);
            int h = open("own", O_RDWR | O_CREAT, 0644);
            pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &o);
            pwrite(h, "v", 1, i % 100);
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &o);
            close(h);
            pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &o);
        } break;
        case 4:
            fsync(f);
            pwrite(f, b, 10, 0);
            break;
        case 5:
            ftruncate(f, 70000);
            break;
        }
        pthread_testcancel();
    }
    return 0;
}
static volatile int stop;
static void *other(void *a) {
    char b[1000], c[1000];
    memset(b, 'o', 1000);
    while (!stop) {
        if (pwrite(f, b, 1000, 100000) != 1000 || pread(f, c, 1000, 100000) != 1000 || memcmp(b, c, 1000)) {
            dprintf(2, "other: wrong\n");
            _exit(1);
        }
        ok++;
        int h = open("own2", O_RDWR | O_CREAT | O_APPEND, 0644);
        write(h, "w", 1);
        close(h);
    }
    return 0;
}
int main(int c, char **v) {
    f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    app = open("app", O_RDWR | O_CREAT | O_APPEND | O_TRUNC, 0644);
    srand(7);
    pthread_t o;
    pthread_create(&o, 0, other, 0);
    struct timespec t0, t;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    long n = 0;
    int kinds = atoi(v[1]);
    do {
        for (int k = 0; k < 10; k++) {
            if (k >= 10) break;
            if (kinds == 0 && (k & 1)) continue;
            pthread_t p;
            SAME(pthread_create(&p, 0, victim, (void *)(long)k), 0);
            usleep(rand() % 2000);
            pthread_cancel(p);
            void *r;
            pthread_join(p, &r);
            CHECK(r == PTHREAD_CANCELED);
            n++;
            long before = ok;
            for (int w = 0; w < 3000 && ok == before; w++) usleep(1000);
            if (ok == before) {
                dprintf(2, "other thread hangs after kind %d\n", k);
                _exit(2);
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while (t.tv_sec - t0.tv_sec < 3);
    stop = 1;
    pthread_join(o, 0);
    struct stat st;
    fstat(app, &st);
    char *b = malloc(st.st_size + 1);
    SAME(pread(app, b, st.st_size, 0), st.st_size);
    if (kinds == 0)
        for (long i = 0; i < st.st_size; i++) CHECK(b[i] == "line\n"[i % 5]);
    pid_t p = fork();
    if (!p) {
        alarm(10);
        int h = open("f", O_RDWR);
        char d[70000];
        SAME(pread(h, d, 70000, 0), 70000);
        SAME(pwrite(h, d, 70000, 0), 70000);
        CHECK(!ftruncate(h, 50000));
        CHECK(!fsync(h));
        close(h);
        _exit(0);
    }
    int s;
    waitpid(p, &s, 0);
    SAME(s, 0);
    unlink("app");
    unlink("own2");
    puts("fine");
    return 0;
}
