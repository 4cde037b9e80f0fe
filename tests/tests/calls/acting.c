/* Runs programs on a dirty file's descriptor while it acts for another user, for another group, or has a program with capabilities run. */
#include "case.h"
#include <sys/xattr.h>

/* Version 2, cap_net_raw permitted and effective. */
static const unsigned char capability[20] = {1, 0, 0, 2, 0, 0x20};
static int f;

static void run(const char *program, const char *text)
{
    SAME(write(f, "parent\n", 7), 7);
    pid_t child = fork();
    if (child == 0) {
        dup2(f, 1);
        execl(program, "echo", text, NULL);
        _exit(127);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    SAME(write(f, "again\n", 6), 6);
}

int main(void)
{
    f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0666);
    SAME(write(f, "dirty\n", 6), 6);
    run("/bin/echo", "as ever");
    SAME(seteuid(65534), 0);
    run("/bin/echo", "for another user");
    SAME(seteuid(0), 0);
    SAME(setegid(65534), 0);
    run("/bin/echo", "for another group");
    SAME(setegid(0), 0);
    SAME(system("cp /bin/echo ./echo && chmod 777 . echo"), 0);
    if (setxattr("echo", "security.capability", capability, sizeof capability, 0) == 0) {
        pid_t child = fork();
        if (child == 0) {
            SAME(setresgid(65534, 65534, 65534), 0);
            SAME(setresuid(65534, 65534, 65534), 0);
            int program = open("echo", O_PATH | O_CLOEXEC);
            CHECK(program >= 0);
            char name[32];
            snprintf(name, sizeof name, "/proc/self/fd/%d", program);
            run(name, "with capabilities");
            _exit(0);
        }
        int status;
        SAME(waitpid(child, &status, 0), child);
        SAME(status, 0);
    }
    SAME(unlink("echo"), 0);
    SAME(write(f, "end\n", 4), 4);
    return close(f);
}
