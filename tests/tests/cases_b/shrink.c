/* Sizes that change through the descriptor, across page edges, and by another process. */
#include "case.h"
static char a[300000], back[300000];
static void cut(int f, off_t full, off_t to) {
    MUST(ftruncate(f, 0));
    MUST(pwrite(f, a, full, 0));
    MUST(ftruncate(f, to));
    MUST(ftruncate(f, full));
    long n = pread(f, back, sizeof back, 0);
    printf("%lld to %lld: %ld %d %d\n", (long long)full, (long long)to, n, all(back, 'A', to), all(back + to, 0, full - to));
}
int main(void) {
    memset(a, 'A', sizeof a);
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    SAY(ftruncate(f, 64));
    SAY(read(f, back, 100));
    HOLDS(all(back, 0, 64));
    SAY(lseek(f, 0, SEEK_END));
    SAY(read(f, back, 1));
    cut(f, 5000, 100);
    cut(f, 70000, 65537);
    cut(f, 70000, 65536);
    cut(f, 70000, 65535);
    cut(f, 262144, 4096);
    cut(f, 200001, 131071);
    /* By another process, while we hold the file. */
    MUST(pwrite(f, a, 140000, 0));
    MUST(ftruncate(f, 140000));
    SAY(system("truncate -s 66000 f && truncate -s 140000 f"));
    SAY(pread(f, back, sizeof back, 0));
    HOLDS(all(back, 'A', 66000) && all(back + 66000, 0, 74000));
    struct stat st;
    MUST(fstat(f, &st));
    printf("size %lld\n", (long long)st.st_size);
    pid_t child = fork();
    if (!child) _exit(ftruncate(f, 10) < 0);
    MUST(waitpid(child, NULL, 0));
    SAY(pread(f, back, sizeof back, 0));
    SAY(lseek(f, 0, SEEK_END));
    SAY(ftruncate(f, -1));
    int r = MUST(open("f", O_RDONLY));
    SAY(ftruncate(r, 5));
    return 0;
}
