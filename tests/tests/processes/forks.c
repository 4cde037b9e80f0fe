/* Trees of forks; orphans, daemons, and depth. */
#include "case.h"
#include <sys/prctl.h>
#include <sched.h>
static int f;
static void deep(int n) {
    char b[32];
    int k = sprintf(b, "depth %d\n", n);
    write(f, b, k);
    if (n == 0) _exit(0);
    pid_t p = fork();
    if (!p) {
        deep(n - 1);
    }
    int s;
    waitpid(p, &s, 0);
    if (s) _exit(1);
    write(f, "back\n", 5);
    _exit(0);
}
static void cat(const char *n) {
    char b[20000];
    int f = open(n, O_RDONLY);
    int k = read(f, b, 19999);
    b[k] = 0;
    printf("%s: [%s]\n", n, b);
    close(f);
}
int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int s;
    pid_t p = fork();
    if (!p) deep(25);
    waitpid(p, &s, 0);
    printf("%d\n", s);
    cat("f");
    int pi[2];
    pipe(pi);
    p = fork();
    if (!p) {
        close(pi[0]);
        if (fork()) _exit(0);
        setsid();
        if (fork()) _exit(0);
        chdir("/");
        close(0);
        umask(0);
        usleep(50000);
        write(f, "daemon\n", 7);
        int g = openat(AT_FDCWD, "/dev/null", O_RDWR);
        dup2(g, 0);
        _exit(0);
    }
    close(pi[1]);
    waitpid(p, &s, 0);
    char c;
    read(pi[0], &c, 1);
    cat("f");
    printf("%ld\n", (long)lseek(f, 0, SEEK_CUR));
    pipe(pi);
    p = fork();
    if (!p) {
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (int i = 0; i < 50; i++) write(f, "p", 1);
            write(pi[1], "x", 1);
            pause();
        }
        read(pi[0], &c, 1);
        _exit(0);
    }
    waitpid(p, &s, 0);
    close(pi[1]);
    read(pi[0], &c, 1);
    struct stat st;
    fstat(f, &st);
    printf("%ld\n", (long)st.st_size);
    pid_t k[64];
    for (int i = 0; i < 64; i++) {
        k[i] = fork();
        if (!k[i]) {
            char b[8];
            sprintf(b, "%06d\n", i);
            pwrite(f, b, 7, 5000 + i * 7);
            int g = open("app", O_WRONLY | O_CREAT | O_APPEND, 0644);
            write(g, b, 7);
            close(g);
            if (i % 2)
                exit(0);
            else
                _exit(0);
        }
    }
    for (int i = 0; i < 64; i++) {
        waitpid(k[i], &s, 0);
        if (s) printf("bad %d\n", s);
    }
    char b[449];
    pread(f, b, 448, 5000);
    b[448] = 0;
    int bad = 0;
    for (int i = 0; i < 64; i++) {
        char e[8];
        sprintf(e, "%06d\n", i);
        bad += memcmp(b + i * 7, e, 7) != 0;
    }
    printf("bad %d\n", bad);
    stat("app", &st);
    printf("%ld\n", (long)st.st_size);
    unlink("app");
    printf("%d\n", daemon(1, 0));
    write(f, "daemonized\n", 11);
    return 0;
}
