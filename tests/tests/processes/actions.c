#include "case.h"
#include <spawn.h>
extern char **environ;
static int go(posix_spawn_file_actions_t *fa, posix_spawnattr_t *at, const char *cmd) {
    pid_t p;
    char *a[] = {"sh", "-c", (char *)cmd, 0};
    int e = posix_spawn(&p, "/bin/sh", fa, at, a, environ);
    if (e) return -e;
    int s;
    waitpid(p, &s, 0);
    return s;
}
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
int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write(f, "parent1\n", 8);
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
#define NEW posix_spawn_file_actions_init(&fa)
    NEW;
    posix_spawn_file_actions_addopen(&fa, 5, "f", O_WRONLY | O_APPEND, 0);
    posix_spawn_file_actions_addclose(&fa, f);
    printf("%d\n", go(&fa, 0, "echo five >&5"));
    cat("f");
    NEW;
    posix_spawn_file_actions_adddup2(&fa, f, 1);
    posix_spawn_file_actions_adddup2(&fa, f, f);
    printf("%d\n", go(&fa, 0, "echo one"));
    cat("f");
    write(f, "p2\n", 3);
    cat("f");
    mkdir("d", 0755);
    NEW;
    posix_spawn_file_actions_addchdir_np(&fa, "d");
    posix_spawn_file_actions_addopen(&fa, 1, "in_d", O_WRONLY | O_CREAT, 0644);
    printf("%d\n", go(&fa, 0, "echo ind; pwd >/dev/null"));
    cat("d/in_d");
    int d = open("d", O_RDONLY | O_DIRECTORY);
    NEW;
    posix_spawn_file_actions_addfchdir_np(&fa, d);
    posix_spawn_file_actions_addopen(&fa, 1, "in_d", O_WRONLY | O_APPEND, 0644);
    printf("%d\n", go(&fa, 0, "echo again"));
    cat("d/in_d");
    fcntl(f, F_SETFD, 0);
    NEW;
    posix_spawn_file_actions_addclosefrom_np(&fa, 3);
    printf("%d\n", go(&fa, 0, "(echo x >&3) 2>/dev/null || exit 7") >> 8);
    NEW;
    posix_spawn_file_actions_addopen(&fa, 6, "/nonexistent/x", O_RDONLY, 0);
    printf("fail %d\n", go(&fa, 0, "true"));
    NEW;
    posix_spawn_file_actions_addopen(&fa, 6, "f", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&fa, 99, 7);
    printf("fail %d\n", go(&fa, 0, "true"));
    write(f, "p3\n", 3);
    cat("f");
    pid_t p;
    char *na[] = {"x", 0};
    NEW;
    posix_spawn_file_actions_adddup2(&fa, f, 1);
    printf("nofile %d\n", posix_spawn(&p, "/nonexistent", &fa, 0, na, environ));
    write(f, "p4\n", 3);
    cat("f");
    posix_spawnattr_init(&at);
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, 32);
    sigdelset(&all, 33);
    posix_spawnattr_setsigdefault(&at, &all);
    posix_spawnattr_setflags(&at,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_RESETIDS | POSIX_SPAWN_SETPGROUP | 0x40);
    NEW;
    posix_spawn_file_actions_adddup2(&fa, f, 1);
    printf("%d\n", go(&fa, &at, "echo sigdef"));
    cat("f");
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    NEW;
    posix_spawn_file_actions_addopen(&fa, 0, "f", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&fa, 1, 2);
    printf("%d\n", go(&fa, &at, "cat; echo err >&2"));
    cat("out");
    for (int i = 0; i < 60; i++) {
        NEW;
        for (int k = 0; k < 20; k++) posix_spawn_file_actions_adddup2(&fa, f, 20 + k);
        for (int k = 0; k < 20; k += 2) posix_spawn_file_actions_addclose(&fa, 20 + k);
        char *a[] = {"bash", "-c", "echo m >&39", 0};
        if (posix_spawn(&p, "/bin/bash", &fa, 0, a, environ)) return 1;
        int s;
        waitpid(p, &s, 0);
        if (s) printf("r %d\n", s);
    }
    cat("f");
    printf("%ld\n", (long)lseek(f, 0, SEEK_CUR));
    return 0;
}
