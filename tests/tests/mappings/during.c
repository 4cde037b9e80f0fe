/* While a mapping lives, wherever: what is written by one way is seen by all others at once. */
#define _GNU_SOURCE
#include "case.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { LEN = 3 * 65536 + 777 };

static int turn_to_child[2], turn_to_parent[2];

static void hand(int *pipe) { CHECK(write(pipe[1], "t", 1) == 1); }
static void await(int *pipe) { char c; CHECK(read(pipe[0], &c, 1) == 1); }

static char at(int fd, off_t offset)
{
    char c = 0;
    CHECK(pread(fd, &c, 1, offset) == 1);
    return c;
}

static void put(int fd, off_t offset, char c) { CHECK(pwrite(fd, &c, 1, offset) == 1); }

/* The child maps, closes the descriptor, and looks; then it reads and writes by descriptors of its own. */
static int child(const char *name)
{
    await(turn_to_child);
    int fd = open(name, O_RDWR);
    volatile char *m = mmap(0, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(m != MAP_FAILED);
    CHECK(m[100] == 'a');
    close(fd);
    hand(turn_to_parent);
    await(turn_to_child);
    CHECK(m[200] == 'b');
    m[300] = 'c';
    hand(turn_to_parent);
    await(turn_to_child);
    fd = open(name, O_RDWR);
    CHECK(at(fd, 400) == 'd');
    put(fd, 500, 'e');
    CHECK(m[500] == 'e');
    hand(turn_to_parent);
    await(turn_to_child);
    CHECK(m[600] == 'f');
    CHECK(munmap((void *)m, LEN) == 0);
    put(fd, 700, 'g');
    hand(turn_to_parent);
    await(turn_to_child);
    CHECK(at(fd, 800) == 'h');
    close(fd);
    return 0;
}

int main(void)
{
    char block[LEN];
    memset(block, '.', LEN);
    CHECK(pipe(turn_to_child) == 0 && pipe(turn_to_parent) == 0);
    int fd = open("f", O_CREAT | O_RDWR, 0644);
    CHECK(write(fd, block, LEN) == LEN);
    pid_t pid = fork();
    if (pid == 0)
        _exit(child("f"));
    put(fd, 100, 'a');
    hand(turn_to_child);
    await(turn_to_parent);
    put(fd, 200, 'b');
    hand(turn_to_child);
    await(turn_to_parent);
    CHECK(at(fd, 300) == 'c');
    volatile char *m = mmap(0, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    m[400] = 'd';
    CHECK(munmap((void *)m, LEN) == 0);
    hand(turn_to_child);
    await(turn_to_parent);
    CHECK(at(fd, 500) == 'e');
    put(fd, 600, 'f');
    hand(turn_to_child);
    await(turn_to_parent);
    CHECK(at(fd, 700) == 'g');
    put(fd, 800, 'h');
    hand(turn_to_child);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);

    /* A child inherits the mapping and keeps it when its parent has none; the parent's writes go on. */
    m = mmap(0, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pid = fork();
    if (pid == 0) {
        close(fd);
        await(turn_to_child);
        CHECK(m[900] == 'i' && m[LEN - 1] == 'j');
        m[1000] = 'k';
        hand(turn_to_parent);
        await(turn_to_child);
        _exit(m[1100] != 'l');
    }
    CHECK(munmap((void *)m, LEN) == 0);
    put(fd, 900, 'i');
    put(fd, LEN - 1, 'j');
    hand(turn_to_child);
    await(turn_to_parent);
    CHECK(at(fd, 1000) == 'k');
    put(fd, 1100, 'l');
    hand(turn_to_child);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);

    /* A private mapping shows others' writes where it has not been written itself. */
    char *p = mmap(0, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    p[4096] = 'P';
    put(fd, 1, 'm');
    put(fd, 4097, 'n');
    printf("%c%c%c%c\n", p[1], p[4096], p[4097], at(fd, 4096));
    CHECK(munmap(p, LEN) == 0);

    /* Cut and grown under a mapping, then buffered, then mapped again. */
    m = mmap(0, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(ftruncate(fd, 5000) == 0 && ftruncate(fd, LEN) == 0);
    CHECK(m[4999] == '.' && m[5000] == 0);
    m[6000] = 'o';
    CHECK(munmap((void *)m, LEN) == 0);
    CHECK(at(fd, 6000) == 'o' && at(fd, 5001) == 0);
    put(fd, 5001, 'q');
    m = mmap(0, LEN, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(m[5001] == 'q' && m[6000] == 'o');
    CHECK(lseek(fd, 0, SEEK_END) == LEN);
    return 0;
}
