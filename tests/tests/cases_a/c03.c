/* A process that ends without close keeps what it wrote. */
#include "case.h"

int main(int argc, char **argv)
{
    const char *how = argv[1];
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int f = open(how, O_RDWR | O_CREAT | O_TRUNC, 0644);
        SAME(write(f, "survive", 7), 7);
        SAME(pwrite(f, "far", 3, 200000), 3);
        if (strcmp(how, "kill") == 0)
            kill(getpid(), SIGKILL);
        if (strcmp(how, "exec") == 0)
            execl("/bin/true", "true", (char *)NULL);
        if (strcmp(how, "abort") == 0)
            abort();
        if (strcmp(how, "fault") == 0)
            *(volatile int *)8 = 1;
        if (strcmp(how, "return") == 0)
            exit(0);
        _exit(0);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    return 0;
}
