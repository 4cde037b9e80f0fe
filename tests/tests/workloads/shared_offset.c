/* Threads and processes that read and write through one description, whose offset is one: each call has a place of its own. With "direct", the
 * kernel serves the file. */
#include "case.h"
#include <pthread.h>

#ifdef VECTORS
/* More pieces than go along in one step. */
enum { WRITERS = 4, COUNT = 500, LENGTH = 40 };
#define FORMAT "%020d-%018d\n"
static struct iovec *parts(char *record) {
    static __thread struct iovec all[LENGTH];
    for (int i = 0; i < LENGTH; i++)
        all[i] = (struct iovec){record + i, 1};
    return all;
}
#define WRITE(record) writev(fd, parts(record), LENGTH)
#define READ(record) readv(fd, parts(record), LENGTH)
#else
enum { WRITERS = 4, COUNT = 500, LENGTH = 16 };
#define FORMAT "%07d-%06d\n\n"
#define WRITE(record) write(fd, record, LENGTH)
#define READ(record) read(fd, record, LENGTH)
#endif
static int fd;
static int number[WRITERS];
static unsigned char *seen;

static void *writer(void *argument) {
    char record[LENGTH + 1];
    for (int i = 0; i < COUNT; i++) {
        snprintf(record, sizeof record, FORMAT, *(int *)argument, i);
        SAME(WRITE(record), LENGTH);
    }
    return NULL;
}

static void *reader(void *argument) {
    char record[LENGTH + 1] = {0};
    int who, which;
    for (int i = 0; i < COUNT; i++) {
        SAME(READ(record), LENGTH);
        SAME(sscanf(record, "%d-%d", &who, &which), 2);
        __atomic_add_fetch(&seen[who * COUNT + which], 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void all(void *(*what)(void *), int processes) {
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        number[i] = i;
        if (processes) {
            if (fork() == 0) {
                what(&number[i]);
                _exit(0);
            }
        } else {
            SAME(pthread_create(&threads[i], NULL, what, &number[i]), 0);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        if (processes)
            CHECK(wait(&status) > 0 && status == 0);
        else
            SAME(pthread_join(threads[i], NULL), 0);
    }
}

int main(int count, char **arguments) {
    int direct = count > 1;
    seen = mmap(NULL, WRITERS * COUNT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int processes = 0; processes < 2; processes++) {
        fd = open("f", O_CREAT | O_RDWR | O_TRUNC, 0644);
        CHECK(fd >= 0);
        if (direct)
            CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
        all(writer, processes);
        SAME(lseek(fd, 0, SEEK_CUR), WRITERS * COUNT * LENGTH);
        SAME(lseek(fd, 0, SEEK_END), WRITERS * COUNT * LENGTH);
        SAME(lseek(fd, 0, SEEK_SET), 0);
        memset(seen, 0, WRITERS * COUNT);
        all(reader, processes);
        for (int i = 0; i < WRITERS * COUNT; i++)
            SAME(seen[i], 1);
        SAME(read(fd, number, 1), 0);
        SAME(close(fd), 0);
        unlink("f");
    }
    int end = open("end", O_CREAT | O_WRONLY, 0644);
    CHECK(end >= 0);
    SAME(write(end, "done\n", 5), 5);
    puts("done");
    return 0;
}
