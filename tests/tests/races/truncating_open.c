/* One process writes and closes while a fresh one opens with O_TRUNC: what was written before the open is gone after it. */
#include "race.h"

static char block[300000];

int main(int count, char **arguments)
{
    enum { ROUNDS = 60 };
    int wrong = 0;
    if (count > 1) {
        char go;
        read(0, &go, 1);
        close(open("f", O_WRONLY | O_TRUNC));
        return 0;
    }
    for (int i = 0; i < ROUNDS; i++) {
        int ends[2], f = open("f", O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0644);
        write(f, "a", 1);
        pipe2(ends, O_CLOEXEC);
        pid_t child = fork();
        if (child == 0) {
            dup2(ends[0], 0);
            execl("/proc/self/exe", arguments[0], "truncate", (char *)0);
            _exit(1);
        }
        usleep(15000);
        pwrite(f, block, sizeof block, 0);
        write(ends[1], "x", 1);
        usleep(i * 40);
        close(f);
        waitpid(child, 0, 0);
        close(ends[0]);
        close(ends[1]);
        wrong += real_size("f") != 0;
    }
    printf("not empty %d\n", wrong);
    return 0;
}
