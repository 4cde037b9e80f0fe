/* A counter under record locks, and writes that the other process reads at once, twice. */
#include "case.h"
#include <sched.h>
static void lock(int f, short type) {
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 8};
    MUST(fcntl(f, F_SETLKW, &l));
}
static void count(int rounds) {
    int f = MUST(open("counter", O_RDWR | O_CREAT, 0644));
    for (int i = 0; i < rounds; i++) {
        long n = 0;
        lock(f, F_WRLCK);
        MUST(pread(f, &n, sizeof n, 0));
        n++;
        MUST(pwrite(f, &n, sizeof n, 0));
        lock(f, F_UNLCK);
    }
    MUST(close(f));
}
int main(void) {
    volatile int *turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = MUST(fork());
    count(500);
    if (!child) _exit(0);
    int status;
    MUST(waitpid(child, &status, 0));
    long n = 0;
    int f = MUST(open("counter", O_RDONLY));
    MUST(read(f, &n, sizeof n));
    printf("counter %ld, status %d\n", n, status);
    close(f);

    child = MUST(fork());
    f = MUST(open("turns", O_RDWR | O_CREAT, 0644));
    MUST(ftruncate(f, 4096));
    int bad = 0;
    int *map = NULL;
    for (int i = 0; i < 400; i++) {
        if (!child) {
            while (*turn != 2 * i + 1) sched_yield();
            int a = -1, b = -1;
            pread(f, &a, sizeof a, 100);
            pread(f, &b, sizeof b, 100);
            if (i == 200) map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, f, 0);
            bad += a != i || b != i || (map && map[25] != i);
            *turn = 2 * i + 2;
        } else {
            MUST(pwrite(f, &i, sizeof i, 100));
            *turn = 2 * i + 1;
            while (*turn != 2 * i + 2)
                if (waitpid(child, &status, WNOHANG) > 0) return 5;
        }
    }
    if (!child) _exit(bad != 0);
    MUST(waitpid(child, &status, 0));
    printf("readers' errors: %d\n", status);
    return 0;
}
