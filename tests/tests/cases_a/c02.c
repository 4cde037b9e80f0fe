/* A descriptor and its offset live on over fork and exec, under whatever number. */
#include "case.h"

static void run(const char *script, const char *argument)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execlp("bash", "bash", "-c", script, "bash", argument, (char *)NULL);
        _exit(127);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
}

int main(void)
{
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    char number[16];
    snprintf(number, sizeof number, "%d", f);
    run("printf abc >&$1; printf def >> f", number);
    SAME(lseek(f, 0, SEEK_CUR), 3);
    SAME(write(f, "PP", 2), 2);
    SAME(lseek(f, 0, SEEK_CUR), 5);
    BYTES_AT(f, 0, "abcPPf");
    SAME(lseek(f, 0, SEEK_END), 6);

    /* A forked child that does not exec, with bytes still unflushed on both sides. */
    SAME(lseek(f, 0, SEEK_SET), 0);
    SAME(write(f, "1", 1), 1);
    pid_t child = fork();
    if (child == 0) {
        SAME(write(f, "2", 1), 1);
        SAME(lseek(f, 1, SEEK_CUR), 3);
        _exit(0);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    SAME(write(f, "4", 1), 1);
    BYTES_AT(f, 0, "12c4Pf");

    /* Close-on-exec closes the child's, not the parent's. */
    int g = open("g", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    SAME(write(g, "kept", 4), 4);
    snprintf(number, sizeof number, "%d", g);
    run("! { true >&$1; } 2> /dev/null && test \"$(cat g)\" = kept", number);
    SAME(write(g, "!", 1), 1);
    BYTES_AT(g, 0, "kept!");

    /* As standard input and output of the child: it reads on from where the parent stands. */
    int in = open("f", O_RDONLY), out = open("out", O_WRONLY | O_CREAT | O_APPEND, 0600);
    char byte;
    SAME(read(in, &byte, 1), 1);
    child = fork();
    if (child == 0) {
        SAME(dup2(in, 0), 0);
        SAME(dup2(out, 1), 1);
        execlp("head", "head", "-c", "2", (char *)NULL);
        _exit(127);
    }
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    SAME(write(out, ";", 1), 1);
    int back = open("out", O_RDONLY);
    BYTES_AT(back, 0, "2c;");
    return 0;
}
