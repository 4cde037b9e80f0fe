/* A file that is removed while open stays readable and never comes back under its name. */
#include "case.h"

int main(void)
{
    struct stat seen;
    char bytes[32];
    int f = open("name", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "old", 3), 3);
    SAME(unlink("name"), 0);
    int g = open("name", O_RDWR | O_CREAT | O_EXCL, 0644);
    SAME(write(g, "NEW", 3), 3);
    SAME(write(f, "more", 4), 4);
    BYTES_AT(f, 0, "oldmore");
    SAME(fstat(f, &seen), 0);
    SAME(seen.st_nlink, 0);
    SAME(seen.st_size, 7);
    SAME(close(f), 0);
    SAME(close(g), 0);
    g = open("name", O_RDONLY);
    SAME(read(g, bytes, sizeof bytes), 3);
    CHECK(memcmp(bytes, "NEW", 3) == 0);

    SAME(mkdir("U", 0755), 0);
    f = open("U/x", O_RDWR | O_CREAT, 0644);
    SAME(write(f, "abc", 3), 3);
    SAME(unlink("U/x"), 0);
    SAME(rmdir("U"), 0);
    SAME(lseek(f, 0, SEEK_SET), 0);
    SAME(read(f, bytes, sizeof bytes), 3);
    CHECK(memcmp(bytes, "abc", 3) == 0);
    SAME(fstat(f, &seen), 0);
    SAME(seen.st_nlink, 0);
    SAME(fsync(f), 0);
    SAME(ftruncate(f, 2), 0);
    SAME(lseek(f, 0, SEEK_END), 2);
    /* A child that inherits it, and an unlink by another process. */
    pid_t child = fork();
    if (child == 0) {
        SAME(write(f, "child", 5), 5);
        _exit(system("echo doomed > doomed; exec 3<> doomed; rm doomed; echo again >&3; exit 0"));
    }
    int status;
    waitpid(child, &status, 0);
    SAME(status, 0);
    BYTES_AT(f, 0, "abchild");
    SAME(close(f), 0);
    SAME(access("U/x", F_OK), -1);
    SAME(access("doomed", F_OK), -1);

    /* Made again and again: inode numbers come back, bytes of the dead file must not. */
    for (int round = 0; round < 200; round++) {
        f = open("again", O_RDWR | O_CREAT | O_EXCL, 0644);
        SAME(lseek(f, 0, SEEK_END), 0);
        SAME(pwrite(f, &round, sizeof round, 0), sizeof round);
        SAME(pwrite(f, "tail", 4, 70000 + round), 4);
        int back = -1;
        SAME(pread(f, &back, sizeof back, 0), sizeof back);
        SAME(back, round);
        SAME(pread(f, bytes, 8, 69990), 8);
        CHECK(memcmp(bytes, "\0\0\0\0\0\0\0\0", 8) == 0);
        if (round % 2)
            SAME(unlink("again"), 0);
        SAME(close(f), 0);
        if (round % 2 == 0)
            SAME(unlink("again"), 0);
    }
    return 0;
}
