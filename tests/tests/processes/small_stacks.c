/* Every operation in a thread of the smallest stack, the first attach too. */
#include "case.h"
#include <pthread.h>
#include <spawn.h>
#include <sys/sendfile.h>
extern char **environ;
static void *work(void *a) {
    long n = (long)a;
    char name[32];
    snprintf(name, 32, "w%ld", n);
    char b[512];
    memset(b, 'a' + n % 26, 512);
    int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(f >= 0);
    SAME(write(f, b, 512), 512);
    for (int i = 0; i < 300; i++) SAME(pwrite(f, b, 7, i * 501), 7);
    struct iovec v[3] = {{b, 10}, {b + 20, 10}, {b + 50, 100}};
    SAME(writev(f, v, 3), 120);
    SAME(preadv(f, v, 3, 0), 120);
    SAME(lseek(f, 0, SEEK_SET), 0);
    SAME(read(f, b, 100), 100);
    struct stat st;
    CHECK(!fstat(f, &st));
    CHECK(!fsync(f));
    CHECK(!ftruncate(f, 100000));
    CHECK(lseek(f, 0, SEEK_DATA) >= 0);
    int d = dup(f);
    CHECK(d >= 0);
    SAME(write(d, b, 10), 10);
    CHECK(!close(d));
    int a2 = open(name, O_WRONLY | O_APPEND);
    SAME(write(a2, b, 9), 9);
    CHECK(!close(a2));
    off_t o = 0;
    char n2[40];
    snprintf(n2, 40, "%s.c", name);
    int g = open(n2, O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(sendfile(g, f, &o, 1000), 1000);
    SAME(copy_file_range(f, 0, g, 0, 10, 0), 10);
    close(g);
    pid_t p = fork();
    if (!p) {
        SAME(pwrite(f, "child", 5, 5), 5);
        int h = open(n2, O_RDWR);
        SAME(write(h, "C", 1), 1);
        close(h);
        _exit(0);
    }
    int s;
    waitpid(p, &s, 0);
    SAME(s, 0);
    p = vfork();
    if (!p) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    waitpid(p, &s, 0);
    SAME(s, 0);
    char *av[] = {"true", 0};
    posix_spawn_file_actions_t fa;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, f, 9 + n);
    CHECK(!posix_spawn(&p, "/bin/true", &fa, 0, av, environ));
    waitpid(p, &s, 0);
    SAME(s, 0);
    void *m = mmap(0, 4096, PROT_READ, MAP_SHARED, f, 0);
    CHECK(m != MAP_FAILED);
    munmap(m, 4096);
    CHECK(!close(f));
    CHECK(!rename(n2, name));
    CHECK(!truncate(name, 50));
    CHECK(!unlink(name));
    return 0;
}
int main(void) {
    pthread_attr_t at;
    pthread_attr_init(&at);
    SAME(pthread_attr_setstacksize(&at, PTHREAD_STACK_MIN), 0);
    for (int r = 0; r < 5; r++) {
        pthread_t t[4];
        for (long i = 0; i < 4; i++) SAME(pthread_create(&t[i], &at, work, (void *)i), 0);
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    }
    pid_t p = fork();
    if (!p) {
        pthread_t t;
        pthread_create(&t, &at, work, (void *)9);
        pthread_join(t, 0);
        _exit(0);
    }
    int s;
    waitpid(p, &s, 0);
    SAME(s, 0);
    puts("fine");
    return 0;
}
