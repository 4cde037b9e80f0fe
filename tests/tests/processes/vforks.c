/* vfork children that open, write, duplicate and close before they exec or end. */
#include "case.h"
static int f;
static void show(const char *name) {
    char b[4096];
    int g = open(name, O_RDONLY), n = read(g, b, sizeof b);
    printf("%s: [%.*s]\n", name, n, b);
    close(g);
}
#define CHILD(body)                                                                                          \
    do {                                                                                                     \
        pid_t p = vfork();                                                                                   \
        if (!p) {                                                                                            \
            body;                                                                                            \
            _exit(3);                                                                                        \
        }                                                                                                    \
        int s;                                                                                               \
        waitpid(p, &s, 0);                                                                                   \
        printf("%x at %ld\n", s, (long)lseek(f, 0, SEEK_CUR));                                               \
    } while (0)
int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write(f, "parent\n", 7);
    int h, d;
    static char big[200000];
    memset(big, 'B', sizeof big);
    CHILD({
        d = dup(f);
        close(f);
        write(d, "by a duplicate\n", 15);
        close(d);
    });
    show("f");
    CHILD({
        close(f);
        h = open("own", O_RDWR | O_CREAT | O_TRUNC, 0644);
        write(h, "under the parent's number\n", 26);
        lseek(h, 0, SEEK_SET);
        char b[5];
        read(h, b, 5);
        write(h, "UNDER", 5);
    });
    write(f, "parent again\n", 13);
    show("f");
    show("own");
    CHILD({
        h = open("big", O_RDWR | O_CREAT | O_TRUNC, 0644);
        write(h, big, 10);
        write(h, big, sizeof big);
        pwrite(h, "x", 1, 150000);
        close(h);
    });
    struct stat st;
    SAME(stat("big", &st), 0);
    SAME(st.st_size, 200010);
    CHILD({
        h = open("other", O_RDWR | O_CREAT | O_TRUNC, 0644);
        write(h, "before\n", 7);
        dup2(h, f);
        write(f, "over the parent's\n", 18);
        dup2(h, 1);
        execl("/bin/sh", "sh", "-c", "echo from the next image", NULL);
    });
    write(f, "third\n", 6);
    show("f");
    show("other");
    CHILD({
        close(f);
        h = open("own", O_WRONLY | O_APPEND);
        write(h, "appended\n", 9);
        execl("/nonexistent", "x", NULL);
        write(h, "it failed\n", 10);
    });
    show("own");
    CHILD({
        h = open("own", O_WRONLY | O_TRUNC);
        write(h, "killed\n", 7);
        kill(getpid(), SIGKILL);
    });
    show("own");
    for (int i = 0; i < 200; i++) {
        pid_t p = vfork();
        if (!p) {
            dup2(f, 1);
            close(f);
            execl("/bin/true", "true", NULL);
            _exit(1);
        }
        int s;
        SAME(waitpid(p, &s, 0), p);
        SAME(s, 0);
        SAME(pwrite(f, "p", 1, i), 1);
    }
    show("f");
    return 0;
}
