/* Appends while another process asks for holes all the time: each line lands once. */
#include "race.h"

int main(void)
{
    enum { LINES = 10000 };
    char line[101];
    int f = open("f", O_CREAT | O_RDWR | O_APPEND | O_TRUNC, 0644);
    pid_t child = fork();
    if (child == 0) {
        int g = open("f", O_RDONLY);
        for (;;) {
            lseek(g, 0, SEEK_DATA);
            usleep(50);
        }
    }
    for (int i = 0; i < LINES; i++) {
        sprintf(line, "%099d\n", i);
        if (write(f, line, 100) != 100)
            perror("write");
    }
    end_child(child);
    close(f);
    printf("size %ld\n", real_size("f"));
    return 0;
}
