/* A growing file whose mode changes and which is opened all the time: its end is where the writer left it. */
#include "race.h"

int main(void)
{
    enum { WRITES = 40000 };
    char block[100] = "", back[100];
    int wrong = 0, f = open("f", O_CREAT | O_RDWR | O_TRUNC, 0644);
    pid_t child = fork();
    if (child == 0)
        for (int i = 0;; i++) {
            chmod("f", 0600 | (i & 1));
            int g = open("f", O_RDONLY);
            pread(g, back, sizeof back, 0);
            close(g);
        }
    for (int i = 0; i < WRITES; i++) {
        pwrite(f, block, sizeof block, i * 100L);
        wrong += lseek(f, 0, SEEK_END) != (i + 1) * 100L;
    }
    end_child(child);
    chmod("f", 0600);
    printf("wrong ends %d, size %ld\n", wrong, (long)lseek(f, 0, SEEK_END));
    return 0;
}
