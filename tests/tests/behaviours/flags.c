/* Flags that change while bytes wait: what was written before reaches the file, whoever has it written, and nobody is told of a failure. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[5003], back[20000];

static void say(const char *what, long value) {
    printf("  %s %ld %s\n", what, value, value < 0 ? strerror(errno) : "");
}

int main(void) {
    const int opens[] = {O_WRONLY, O_RDWR, O_RDWR | O_APPEND, O_RDWR | O_DIRECT};
    const int changes[] = {0, O_APPEND, O_DIRECT, O_APPEND | O_DIRECT, O_NONBLOCK, O_DIRECT | O_NONBLOCK};
    for (int i = 0; i < (int)sizeof text; i++) text[i] = 'a' + i % 23;
    for (int o = 0; o < 4; o++)
        for (int c = 0; c < 6; c++)
            for (int who = 0; who < 4; who++) {
                printf("opened %#x changed %#x way %d\n", opens[o], changes[c], who);
                unlink("file");
                int fd = open("file", opens[o] | O_CREAT, 0644), other = open("file", O_WRONLY);
                if (fd < 0) {
                    say("open", fd);
                    close(other);
                    continue;
                }
                say("write", write(other, text, 2000));
                say("more", write(other, text, sizeof text));
                say("pwrite", pwrite(fd, text, 301, 10));
                say("again", pwrite(fd, text, 3001, 999));
                say("change", fcntl(fd, F_SETFL, changes[c]));
                say("flags", fcntl(fd, F_GETFL) & (O_APPEND | O_DIRECT | O_NONBLOCK));
                say("tail", write(fd, "tail", 4));
                if (who == 0) say("sync", fsync(fd));
                if (who == 1) say("sync", fsync(other));
                if (who == 2) {
                    fflush(stdout);
                    pid_t child = fork();
                    if (child == 0) {
                        say("child's sync", fsync(other));
                        fflush(stdout);
                        _exit(0);
                    }
                    waitpid(child, NULL, 0);
                }
                say("last", write(other, "last", 4));
                say("close", close(fd));
                say("close", close(other));
                int in = open("file", O_RDONLY);
                long n = read(in, back, sizeof back), sum = 0;
                for (long i = 0; i < n; i++) sum = sum * 31 % 1000003 + back[i];
                say("size", n);
                say("sum", sum);
                close(in);
            }
    return 0;
}
