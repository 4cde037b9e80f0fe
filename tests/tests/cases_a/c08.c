/* sendfile, splice and tee from and into a file that is being written. */
#include "case.h"
#include <sys/sendfile.h>

static void from(int f)
{
    char bytes[64] = {0};
    int pair[2], pipes[2], second[2];
    SAME(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    SAME(pipe(pipes), 0);
    SAME(pipe(second), 0);
    off_t offset = 2;
    off64_t at = 4;
    SAME(lseek(f, 1, SEEK_SET), 1);
    SAME(sendfile(pair[0], f, &offset, 3), 3);
    SAME(offset, 5);
    SAME(lseek(f, 0, SEEK_CUR), 1);
    SAME(read(pair[1], bytes, 64), 3);
    CHECK(memcmp(bytes, "234", 3) == 0);
    SAME(sendfile(pair[0], f, NULL, 4), 4);
    SAME(lseek(f, 0, SEEK_CUR), 5);
    SAME(read(pair[1], bytes, 64), 4);
    CHECK(memcmp(bytes, "1234", 4) == 0);
    SAME(splice(f, &at, pipes[1], NULL, 3, 0), 3);
    SAME(at, 7);
    SAME(lseek(f, 0, SEEK_CUR), 5);
    SAME(tee(pipes[0], second[1], 3, 0), 3);
    SAME(read(pipes[0], bytes, 64), 3);
    CHECK(memcmp(bytes, "456", 3) == 0);
    SAME(read(second[0], bytes, 64), 3);
    CHECK(memcmp(bytes, "456", 3) == 0);
    SAME(splice(f, NULL, pipes[1], NULL, 64, 0), 5);
    SAME(lseek(f, 0, SEEK_CUR), 10);
    SAME(read(pipes[0], bytes, 64), 5);
    CHECK(memcmp(bytes, "56789", 5) == 0);
    SAME(splice(f, NULL, pipes[1], NULL, 64, 0), 0);
    close(pair[0]), close(pair[1]), close(pipes[0]), close(pipes[1]), close(second[0]), close(second[1]);
}

int main(void)
{
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644), status, pipes[2];
    SAME(write(f, "0123456789", 10), 10);
    from(f);
    pid_t child = fork();
    if (child == 0) {
        from(open("f", O_RDONLY));
        _exit(0);
    }
    waitpid(child, &status, 0);
    SAME(status, 0);
    /* Into a file: what splice and sendfile write is seen by read at once. */
    int g = open("g", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(g, "old old old old", 15), 15);
    SAME(pipe(pipes), 0);
    SAME(write(pipes[1], "NEW", 3), 3);
    off64_t at = 4;
    SAME(splice(pipes[0], NULL, g, &at, 3, 0), 3);
    BYTES_AT(g, 0, "old NEW old old");
    SAME(lseek(g, 0, SEEK_CUR), 15);
    off_t offset = 0;
    SAME(sendfile(g, f, &offset, 10), 10);
    BYTES_AT(g, 8, "old old0123456789");
    struct iovec piece = {"VM!", 3};
    SAME(vmsplice(pipes[1], &piece, 1, 0), 3);
    SAME(splice(pipes[0], NULL, g, NULL, 3, 0), 3);
    BYTES_AT(g, 20, "56789VM!");
    SAME(write(g, ".", 1), 1);
    BYTES_AT(g, 25, "VM!.");
    return 0;
}
