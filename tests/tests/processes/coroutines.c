/* Coroutines on 16 KiB stacks with a guard page below, that switch between their calls. */
#include "case.h"
#include <ucontext.h>
static ucontext_t home, co[4];
static int cur;
static void sw(void) { swapcontext(&co[cur], &home); }
static void work(int n) {
    char name[16];
    snprintf(name, 16, "k%d", n);
    char b[300];
    memset(b, 'A' + n, 300);
    int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(f >= 0);
    sw();
    SAME(write(f, b, 300), 300);
    sw();
    for (int i = 0; i < 200; i++) {
        SAME(pwrite(f, b, 3, i * 401), 3);
        if (i % 50 == 0) sw();
    }
    struct stat st;
    CHECK(!fstat(f, &st));
    sw();
    SAME(pread(f, b, 100, 0), 100);
    CHECK(!fsync(f));
    sw();
    CHECK(!ftruncate(f, 70000));
    pid_t p = fork();
    if (!p) {
        SAME(pwrite(f, "ch", 2, 9), 2);
        _exit(0);
    }
    int s;
    waitpid(p, &s, 0);
    SAME(s, 0);
    sw();
    p = vfork();
    if (!p) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    waitpid(p, &s, 0);
    SAME(s, 0);
    FILE *q = fopen(name, "a");
    CHECK(q);
    fprintf(q, "%d\n", n);
    CHECK(!fclose(q));
    CHECK(!close(f));
    sw();
}
int main(void) {
    int done = 0;
    for (int i = 0; i < 4; i++) {
        char *m = mmap(0, 20480, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(m, 4096, PROT_NONE);
        getcontext(&co[i]);
        co[i].uc_stack.ss_sp = m + 4096;
        co[i].uc_stack.ss_size = 16384;
        co[i].uc_link = &home;
        makecontext(&co[i], (void (*)(void))work, 1, i);
    }
    for (int r = 0; r < 11; r++)
        for (cur = 0; cur < 4; cur++) swapcontext(&home, &co[cur]);
    puts("fine");
    return 0;
}
