/* Handlers on alternate stacks of the usual sizes, a guard page below. */
#include "case.h"
static volatile int step;
static int f;
static void h(int s) {
    char b[100];
    memset(b, 'x', 100);
    if (step == 0) {
        f = open("log", O_RDWR | O_CREAT | O_TRUNC, 0644);
        CHECK(f >= 0);
    }
    SAME(write(f, b, 100), 100);
    SAME(pwrite(f, "yy", 2, step * 10), 2);
    SAME(pread(f, b, 50, 0), 50);
    if (step % 3 == 2) {
        int g = open("log2", O_WRONLY | O_CREAT | O_APPEND, 0644);
        SAME(write(g, "line\n", 5), 5);
        CHECK(!close(g));
        CHECK(!fsync(f));
    }
    step++;
}
int main(int c, char **v) {
    size_t size = atoi(v[1]);
    char *m = mmap(0, size + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(m, 4096, PROT_NONE);
    size_t up = (size + 4095) & ~4095;
    stack_t ss = {.ss_sp = m + 4096, .ss_size = size};
    CHECK(!sigaltstack(&ss, 0));
    struct sigaction sa = {0};
    sa.sa_handler = h;
    sa.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &sa, 0);
    for (int i = 0; i < 10; i++) raise(SIGUSR1);
    CHECK(!close(f));
    printf("fine %zu\n", size);
    return 0;
}
