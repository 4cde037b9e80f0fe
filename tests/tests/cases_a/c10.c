/* Data and size are visible before close and without fsync, to the writer and to another process. */
#include "case.h"

static int to_child[2], to_parent[2];

static void tell(int fd) { SAME(write(fd, "x", 1), 1); }

static void hear(int fd)
{
    char byte;
    SAME(read(fd, &byte, 1), 1);
}

static void reader(void)
{
    struct stat seen;
    char bytes[32];
    hear(to_child[0]);
    int f = open("f", O_RDONLY);
    BYTES_AT(f, 0, "first");
    SAME(fstat(f, &seen), 0);
    SAME(seen.st_size, 5);
    SAME(lseek(f, 0, SEEK_END), 5);
    SAME(read(f, bytes, sizeof bytes), 0);
    tell(to_parent[1]);
    /* The same descriptor at its end sees what is added, and what is changed below. */
    hear(to_child[0]);
    SAME(read(f, bytes, 6), 6);
    CHECK(memcmp(bytes, "second", 6) == 0);
    BYTES_AT(f, 0, "FIRST");
    SAME(stat("f", &seen), 0);
    SAME(seen.st_size, 100003);
    SAME(lseek(f, 0, SEEK_END), 100003);
    SAME(pread(f, bytes, sizeof bytes, 99998), 5);
    CHECK(memcmp(bytes, "\0\0far", 5) == 0);
    int w = open("f", O_WRONLY);
    SAME(pwrite(w, "CHILD", 5, 5), 5);
    tell(to_parent[1]);
    hear(to_child[0]);
    SAME(lseek(f, 0, SEEK_END), 7);
    SAME(read(f, bytes, 1), 0);
    SAME(pread(f, bytes, sizeof bytes, 5), 2);
    CHECK(memcmp(bytes, "CH", 2) == 0);
    _exit(0);
}

int main(void)
{
    alarm(30);
    SAME(pipe(to_child), 0);
    SAME(pipe(to_parent), 0);
    pid_t child = fork();
    if (child == 0)
        reader();
    struct stat seen;
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(pwrite(f, "first", 5, 0), 5);
    BYTES_AT(f, 0, "first");
    SAME(fstat(f, &seen), 0);
    SAME(seen.st_size, 5);
    SAME(lseek(f, 0, SEEK_END), 5);
    tell(to_child[1]);
    hear(to_parent[0]);
    SAME(write(f, "second", 6), 6);
    SAME(pwrite(f, "FIRST", 5, 0), 5);
    SAME(pwrite(f, "far", 3, 100000), 3);
    tell(to_child[1]);
    hear(to_parent[0]);
    BYTES_AT(f, 0, "FIRSTCHILD");
    SAME(ftruncate(f, 7), 0);
    tell(to_child[1]);
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    return 0;
}
