/* Forks while other threads open, write and close: each child can use its files. */
#include "case.h"
static volatile int done;
static void *work(void *number) {
    char name[32];
    snprintf(name, sizeof name, "t%ld", (long)number);
    while (!done) {
        int f = MUST(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
        MUST(write(f, "worker", 6));
        MUST(close(f));
    }
    return NULL;
}
static int child(int i, int shared) {
    char name[32], b[16] = "";
    snprintf(name, sizeof name, "c%d", i % 7);
    int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (f < 0 || write(f, name, 2) != 2 || pread(f, b, 16, 0) != 2 || memcmp(b, name, 2)) return 1;
    if (pread(shared, b, 6, 0) != 6 || memcmp(b, "shared", 6)) return 2;
    close(f);
    if (i % 50 == 0) {
        execl("/proc/self/exe", "threads", "check", NULL);
        return 3;
    }
    return 0;
}
int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "check")) {
        char b[8];
        int f = open("shared", O_RDONLY);
        return read(f, b, 6) != 6 || memcmp(b, "shared", 6) ? 4 : 0;
    }
    int forks = atoi(argv[1]), shared = MUST(open("shared", O_RDWR | O_CREAT, 0644));
    MUST(write(shared, "shared", 6));
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    int bad = 0;
    double longest = 0;
    for (int i = 0; i < forks; i++) {
        struct timespec a, z;
        clock_gettime(CLOCK_MONOTONIC, &a);
        pid_t pid = MUST(fork());
        if (!pid) _exit(child(i, shared));
        int status;
        MUST(waitpid(pid, &status, 0));
        clock_gettime(CLOCK_MONOTONIC, &z);
        double took = z.tv_sec - a.tv_sec + (z.tv_nsec - a.tv_nsec) / 1e9;
        if (took > longest) longest = took;
        if (status && bad++ < 5) printf("child %d: status %x\n", i, status);
    }
    done = 1;
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("bad %d, each within 5 s: %d\n", bad, longest < 5);
    return 0;
}
