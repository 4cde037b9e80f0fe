/* A thread that was cancelled ends in its next call on a file, before the call has any effect; one that has put cancellation off goes on. */
#include "matrix.h"

static int fd, stream_fd, which, off;
static volatile int ready, go;

static void cleanup(void *unused) { line("%s   cleaned up", label_); }

static void *worker(void *unused) {
    char b[16] = "worker's bytes";
    struct iovec iov = {b, 14};
    if (off) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
    ready = 1;
    while (!go) sched_yield();
    pthread_cleanup_push(cleanup, 0);
    long r = -2;
    switch (which) {
    case 0: r = read(fd, b, 14); break;
    case 1: r = write(fd, b, 14); break;
    case 2: r = pread(fd, b, 14, 5); break;
    case 3: r = pwrite(fd, b, 14, 5); break;
    case 4: r = readv(fd, &iov, 1); break;
    case 5: r = writev(fd, &iov, 1); break;
    case 6: r = preadv(fd, &iov, 1, 3); break;
    case 7: r = pwritev(fd, &iov, 1, 3); break;
    case 8: r = preadv2(fd, &iov, 1, 3, 0); break;
    case 9: r = pwritev2(fd, &iov, 1, 3, 0); break;
    case 10: r = fsync(fd); break;
    case 11: r = open("file", O_RDWR) < 0 ? -1 : 0; break;
    case 12: r = lseek(fd, 0, SEEK_CUR); break;
    case 13: r = close(dup(fd)); break;
    }
    line("%s   not ended: %ld", label_, r);
    pthread_cleanup_pop(0);
    return 0;
}

int main(void) {
    for (off = 0; off < 2; off++)
        for (which = 0; which < 14; which++) {
            pthread_t thread;
            void *result;
            LABEL("call %d off %d", which, off);
            fd = dirty("file", 1000, O_RDWR);
            ready = go = 0;
            NEED(pthread_create(&thread, 0, worker, 0));
            while (!ready) sched_yield();
            R(pthread_cancel(thread));
            go = 1;
            R(pthread_join(thread, &result));
            line("%s   %s", label_, result == PTHREAD_CANCELED ? "cancelled" : "returned");
            state(fd);
            close(fd);
        }
    return 0;
}
