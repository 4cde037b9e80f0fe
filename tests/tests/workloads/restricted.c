#include "case.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define IS(number, verdict)                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, verdict)

static void install(struct sock_filter *filter, int count) {
    struct sock_fprog program = {count, filter};
    SAME(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    SAME(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), 0);
}

/* Only what the program itself does below. */
static void allow_few(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        IS(SYS_openat, SECCOMP_RET_ALLOW),     IS(SYS_read, SECCOMP_RET_ALLOW),
        IS(SYS_write, SECCOMP_RET_ALLOW),      IS(SYS_close, SECCOMP_RET_ALLOW),
        IS(SYS_clone, SECCOMP_RET_ALLOW),      IS(SYS_wait4, SECCOMP_RET_ALLOW),
        IS(SYS_set_robust_list, SECCOMP_RET_ALLOW), IS(SYS_gettid, SECCOMP_RET_ALLOW),
        IS(SYS_rseq, SECCOMP_RET_ALLOW),       IS(SYS_prlimit64, SECCOMP_RET_ALLOW),
        IS(SYS_dup, SECCOMP_RET_ALLOW),        IS(SYS_exit_group, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    install(filter, sizeof filter / sizeof filter[0]);
}

/* All but what a program hardly ever needs, and the shim does. */
static void deny_some(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        IS(SYS_socket, SECCOMP_RET_KILL_PROCESS),
        IS(SYS_madvise, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    install(filter, sizeof filter / sizeof filter[0]);
}

static void put(const char *name, const char *text) {
    int fd = open(name, O_CREAT | O_WRONLY | O_APPEND, 0644);
    CHECK(fd >= 0);
    SAME(write(fd, text, strlen(text)), (long long)strlen(text));
    SAME(close(fd), 0);
}

int main(void) {
    /* Asking what is there restricts nothing. */
    unsigned action = SECCOMP_RET_ALLOW;
    SAME(syscall(SYS_seccomp, 2, 0, &action), 0);
    int f = open("f", O_RDWR);
    CHECK(f >= 0);
    SAME(pwrite(f, "B", 1, 0), 1);
    pid_t child = fork();
    if (child == 0) {
        SAME(lseek(f, 7, SEEK_SET), 7);
        allow_few();
        SAME(write(f, "child\n", 6), 6);
        put("g", "one\n");
        pid_t grandchild = fork();
        if (grandchild == 0) {
            put("g", "two\n");
            _exit(0);
        }
        int status;
        if (waitpid(grandchild, &status, 0) != grandchild || status != 0)
            _exit(3);
        int copy = dup(f);
        if (copy < 0 || close(copy) != 0)
            _exit(4);
        put("g", "three\n");
        exit(0);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    child = fork();
    if (child == 0) {
        deny_some();
        execlp("sh", "sh", "-c", "cat f > h; sh -c 'cat g >> h'", (char *)NULL);
        _exit(5);
    }
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    SAME(write(f, "parent\n", 7), 7);
    puts("done");
    return 0;
}
