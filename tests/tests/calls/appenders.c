/* Two processes append up to a limit on file size at the same time: the file ends there, not a byte beyond. */
#include "case.h"
#include <sys/mman.h>
#include <sys/resource.h>
#define LIMIT 16415
#define ROUNDS 400
static volatile int *shared;
/* Until both are here. */
static void meet(int n) {
    __sync_fetch_and_add(shared, 1);
    while (*shared < 2 * n) sched_yield();
}
int main(void) {
    struct rlimit limit = {LIMIT, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int f = open("f", O_RDWR | O_CREAT | O_APPEND, 0644);
    CHECK(f >= 0);
    pid_t child = fork();
    CHECK(child >= 0);
    char b[4700];
    memset(b, child ? 'p' : 'c', sizeof b);
    int n = 0;
    for (int round = 0; round < ROUNDS; round++) {
        meet(++n);
        for (int i = 0; i < 3; i++) {
            ssize_t got = write(f, b, sizeof b);
            if (got < 0) SAME(errno, EFBIG);
        }
        meet(++n);
        if (child) {
            struct stat st;
            CHECK(!fstat(f, &st));
            SAME(st.st_size, LIMIT);
            CHECK(!ftruncate(f, 0));
        }
        meet(++n);
    }
    if (!child) _exit(0);
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    puts("fine");
    return 0;
}
