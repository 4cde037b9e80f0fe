/* Children made by raw calls: shared memory, shared tables, tables that are unshared. */
#include "case.h"
#include <sched.h>
#include <sys/syscall.h>
#include <linux/sched.h>
#include <linux/close_range.h>
static int f;
static char stk[65536] __attribute__((aligned(16)));
static void cat(const char *n) {
    char b[4096];
    int f = open(n, O_RDONLY);
    if (f < 0) {
        printf("%s: none\n", n);
        return;
    }
    int k = read(f, b, 4095);
    b[k] = 0;
    printf("%s: [%s]\n", n, b);
    close(f);
}
static int w(void *a) {
    const char *s = a;
    write(f, s, strlen(s));
    return 0;
}
static int opener(void *a) {
    int g = open("g", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write(g, "child made\n", 11);
    *(int *)a = g;
    return 0;
}
static int closer(void *a) {
    close(*(int *)a);
    return 0;
}
static int uns(void *a) {
    unshare(CLONE_FILES);
    int g = *(int *)a;
    close(g);
    int h = open("h", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write(h, "own table\n", 10);
    *(int *)a = h;
    return 0;
}
static int cr(void *a) {
    close_range(3, ~0u, CLOSE_RANGE_UNSHARE);
    int h = open("h2", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write(h, "unshared\n", 9);
    return 0;
}
static int ex(void *a) {
    dup2(f, 1);
    close(f);
    execl("/bin/sh", "sh", "-c", (char *)a, NULL);
    _exit(127);
}
static int run(int (*fn)(void *), void *a, int flags) {
    int p = clone(fn, stk + sizeof stk, flags | SIGCHLD, a);
    if (p < 0) return -errno;
    int s;
    waitpid(p, &s, 0);
    return s;
}
int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write(f, "0\n", 2);
    printf("%d\n", run(w, "plain clone\n", 0));
    cat("f");
    printf("%d\n", run(w, "vm vfork\n", CLONE_VM | CLONE_VFORK));
    cat("f");
    printf("%d\n", run(w, "vm\n", CLONE_VM));
    cat("f");
    printf("%d\n", run(w, "files\n", CLONE_FILES));
    cat("f");
    printf("%d\n", run(w, "vm files fs sighand\n", CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND));
    cat("f");
    int *g = mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    printf("%d\n", run(opener, g, CLONE_FILES));
    printf("%d %d\n", (int)write(*g, "parent too\n", 11), (int)lseek(*g, 0, SEEK_CUR));
    cat("g");
    printf("%d\n", run(closer, g, CLONE_FILES));
    printf("%d %s\n", (int)write(*g, "x", 1), strerror(errno));
    printf("%d\n", run(opener, g, CLONE_FILES | CLONE_VM));
    printf("%d %d\n", (int)write(*g, "parent too\n", 11), (int)lseek(*g, 0, SEEK_CUR));
    cat("g");
    printf("%d\n", run(closer, g, CLONE_FILES | CLONE_VM));
    printf("%d %s\n", (int)write(*g, "x", 1), strerror(errno));
    *g = open("u", O_RDWR | O_CREAT | O_TRUNC, 0644);
    int keep = *g;
    write(keep, "kept\n", 5);
    printf("%d\n", run(uns, g, CLONE_FILES));
    printf("%d\n", (int)write(keep, "still\n", 6));
    cat("u");
    cat("h");
    *g = keep;
    printf("%d\n", run(uns, g, CLONE_FILES | CLONE_VM));
    printf("%d\n", (int)write(keep, "still2\n", 7));
    cat("u");
    cat("h");
    printf("%d\n", run(cr, 0, CLONE_FILES));
    printf("%d\n", (int)write(keep, "still3\n", 7));
    cat("u");
    cat("h2");
    printf("%d\n", run(ex, "echo by exec", CLONE_VM | CLONE_VFORK));
    write(f, "after\n", 6);
    cat("f");
    printf("%d\n", run(ex, "echo by exec2", 0));
    cat("f");
    printf("%d\n", run(ex, "echo by exec3", CLONE_VM));
    cat("f");
    printf("%d\n", run(ex, "echo by exec4", CLONE_FILES));
    f = open("f", O_RDWR | O_APPEND);
    struct clone_args ca = {0};
    ca.exit_signal = SIGCHLD;
    int s;
    int p = syscall(SYS_clone3, &ca, sizeof ca);
    if (!p) {
        write(f, "clone3\n", 7);
        _exit(0);
    }
    waitpid(p, &s, 0);
    printf("%d\n", s);
    cat("f");
    p = syscall(SYS_fork);
    if (!p) {
        write(f, "sysfork\n", 8);
        int h = open("hh", O_RDWR | O_CREAT, 0644);
        write(h, "q", 1);
        close(h);
        syscall(SYS_exit, 0);
    }
    waitpid(p, &s, 0);
    printf("%d\n", s);
    cat("f");
    cat("hh");
    p = syscall(SYS_clone, CLONE_CHILD_SETTID | SIGCHLD, 0, 0, 0, 0);
    if (!p) {
        write(f, "sysclone\n", 9);
        _exit(0);
    }
    waitpid(p, &s, 0);
    printf("%d\n", s);
    cat("f");
    p = vfork();
    if (!p) {
        int d = dup(f);
        close(f);
        write(d, "vfork dup\n", 10);
        close(d);
        _exit(0);
    }
    waitpid(p, &s, 0);
    printf("%d %d\n", s, (int)write(f, "parent\n", 7));
    cat("f");
    p = vfork();
    if (!p) {
        dup2(f, 1);
        close(f);
        int h = open("vf", O_RDWR | O_CREAT | O_TRUNC, 0644);
        write(h, "v", 1);
        dup2(h, 9);
        close(h);
        execl("/bin/sh", "sh", "-c", "echo vforked; echo nine >&9", NULL);
        _exit(0);
    }
    waitpid(p, &s, 0);
    printf("%d\n", s);
    cat("f");
    cat("vf");
    p = _Fork();
    if (!p) {
        write(f, "_Fork\n", 6);
        _exit(0);
    }
    waitpid(p, &s, 0);
    printf("%d\n", s);
    cat("f");
    return 0;
}
