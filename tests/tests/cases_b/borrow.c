/* Threads that synchronise one file by descriptors that cannot write it, while others open and close: what one borrows, another may close. */
#include "case.h"
static volatile int done, bad;
static void *work(void *number) {
    long me = (long)number;
    char name[16], b[4096], back[4096];
    snprintf(name, sizeof name, "p%ld", me);
    memset(b, 'A' + me, sizeof b);
    for (int i = 0; i < 3000 && !bad; i++) {
        int f = MUST(open("f", O_WRONLY | O_CREAT, 0644));
        MUST(pwrite(f, b, sizeof b, me * 4096));
        int g = MUST(open("f", O_RDONLY));
        if (fsync(g)) printf("fsync %s\n", strerrorname_np(errno)), bad = 1;
        if (pread(g, back, 4096, me * 4096) != 4096 || memcmp(b, back, 4096)) printf("f differs\n"), bad = 1;
        if (close(f)) printf("close %s\n", strerrorname_np(errno)), bad = 1;
        /* Takes the number that was just given up. */
        int p = MUST(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
        MUST(pwrite(p, "private", 7, 0));
        if (close(g)) printf("close of reader %s\n", strerrorname_np(errno)), bad = 1;
        struct stat st;
        MUST(fstat(p, &st));
        if (st.st_size != 7) printf("%s has %lld bytes\n", name, (long long)st.st_size), bad = 1;
        if (close(p)) printf("close of private %s\n", strerrorname_np(errno)), bad = 1;
    }
    return NULL;
}
int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("bad %d\n", bad);
    return 0;
}
