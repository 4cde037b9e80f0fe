/* A reader that asks for holes of a file which another process writes all the time: no call of either fails. */
#include "race.h"

static char block[4096];

int main(void)
{
    long writes = 0;
    int f = open("f", O_CREAT | O_WRONLY | O_TRUNC, 0644);
    write(f, "a", 1);
    write(f, "b", 1);
    pid_t child = fork();
    if (child == 0) {
        int failed = 0, g = open("f", O_RDONLY);
        close(f);
        for (int i = 0; i < 1000; i++)
            failed += lseek(g, 0, SEEK_DATA) < 0;
        printf("reader failed %d\n", failed);
        fflush(stdout);
        _exit(0);
    }
    while (writes % 256 || waitpid(child, 0, WNOHANG) == 0) {
        pwrite(f, block, sizeof block, writes % 4096 * 4096L);
        writes++;
    }
    printf("fsync %d close %d\n", fsync(f), close(f));
    unlink("f");
    return 0;
}
