/* Children made by posix_spawn, system and popen while files are open and dirty. */
#include "case.h"
#include <spawn.h>
extern char **environ;
static void show(const char *name) {
    char b[256] = "";
    int f = MUST(open(name, O_RDONLY));
    long n = MUST(read(f, b, sizeof b - 1));
    printf("%s: %ld [%.*s]\n", name, n, (int)n, b);
    close(f);
}
int main(void) {
    int f = MUST(open("parent", O_RDWR | O_CREAT, 0644));
    MUST(write(f, "dirty ", 6));
    for (int i = 0; i < 50; i++) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 1, "child", O_WRONLY | O_CREAT | O_APPEND, 0644);
        posix_spawn_file_actions_adddup2(&actions, f, 7);
        posix_spawn_file_actions_adddup2(&actions, 1, 8);
        posix_spawn_file_actions_addclose(&actions, f);
        char *words[] = {"sh", "-c", "echo 1; echo 8 >&8; printf c >&7", NULL};
        pid_t pid;
        int status;
        if (posix_spawnp(&pid, "sh", &actions, NULL, words, environ)) return 2;
        MUST(waitpid(pid, &status, 0));
        if (status) printf("status %x\n", status);
        posix_spawn_file_actions_destroy(&actions);
        if (i % 10 == 0) MUST(write(f, ".", 1));
    }
    SAY(lseek(f, 0, SEEK_CUR));
    MUST(write(f, " end", 4));
    show("parent");
    show("child");
    SAY(system("echo system >>parent; exit 3") >> 8);
    FILE *p = popen("cat parent | tail -c 7", "r");
    char line[64] = "";
    if (!fgets(line, sizeof line, p)) return 3;
    printf("popen read %s", line);
    SAY(pclose(p));
    p = popen("cat >from", "w");
    fputs("to the child\n", p);
    SAY(pclose(p));
    show("from");
    pid_t v = vfork();
    if (!v) {
        execlp("sh", "sh", "-c", "echo vfork >>parent", NULL);
        _exit(1);
    }
    int status;
    MUST(waitpid(v, &status, 0));
    show("parent");
    SAY(fcntl(f, F_GETFD));
    SAY(fcntl(7, F_GETFD));
    return 0;
}
