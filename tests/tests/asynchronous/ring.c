/* Rings by the library, over files that were opened before and after, by the program and by the ring. */
#include "case.h"
#include <liburing.h>
#include <poll.h>

static struct io_uring ring;

static struct io_uring_sqe *next(void)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    CHECK(entry != NULL);
    return entry;
}

/* Hands over what was prepared and gives its result. */
static int done(void)
{
    struct io_uring_cqe *cqe;
    SAME(io_uring_submit(&ring), 1);
    SAME(io_uring_wait_cqe(&ring, &cqe), 0);
    int result = cqe->res;
    io_uring_cqe_seen(&ring, cqe);
    return result;
}

static int ring_read(int f, void *to, unsigned n, long long at)
{
    io_uring_prep_read(next(), f, to, n, at);
    return done();
}

static int ring_write(int f, const void *from, unsigned n, long long at)
{
    io_uring_prep_write(next(), f, from, n, at);
    return done();
}

static int dirty(const char *name, int flags)
{
    int f = open(name, O_RDWR | O_CREAT | flags, 0644);
    CHECK(f >= 0);
    SAME(write(f, "some ", 5), 5);
    SAME(write(f, "dirty ", 6), 6);
    return f;
}

static void offsets(int before)
{
    char bytes[32];
    SAME(ring_read(before, bytes, 11, 0), 11);
    CHECK(memcmp(bytes, "some dirty ", 11) == 0);
    SAME(ring_write(before, "ring ", 5, 11), 5);
    SAME(lseek(before, 0, SEEK_CUR), 11);
    BYTES_AT(before, 0, "some dirty ring ");
    int after = dirty("after", 0);
    SAME(ring_read(after, bytes, 11, 0), 11);
    /* The descriptor's own offset, by turns. */
    SAME(ring_write(after, "ring ", 5, -1), 5);
    SAME(lseek(after, 0, SEEK_CUR), 16);
    SAME(write(after, "call ", 5), 5);
    SAME(ring_write(after, "ring\n", 5, -1), 5);
    BYTES_AT(after, 0, "some dirty ring call ring\n");
    SAME(close(after), 0);
}

static void appends(void)
{
    int f = dirty("appended", O_APPEND);
    SAME(ring_write(f, "ring ", 5, 0), 5);
    SAME(write(f, "call ", 5), 5);
    SAME(ring_write(f, "ring\n", 5, 0), 5);
    BYTES_AT(f, 0, "some dirty ring call ring\n");
    SAME(lseek(f, 0, SEEK_END), 26);
    SAME(close(f), 0);
}

/* Opened and closed by the ring, used by calls in between; and the other way round. */
static void opened_by_ring(void)
{
    char bytes[32];
    io_uring_prep_openat(next(), AT_FDCWD, "opened", O_RDWR | O_CREAT, 0644);
    int f = done();
    CHECK(f >= 0);
    SAME(write(f, "call ", 5), 5);
    SAME(ring_write(f, "ring ", 5, -1), 5);
    int other = open("opened", O_RDWR);
    BYTES_AT(other, 0, "call ring ");
    SAME(pwrite(other, "CALL", 4, 0), 4);
    SAME(pread(f, bytes, 4, 0), 4);
    CHECK(memcmp(bytes, "CALL", 4) == 0);
    int twin = dup(f);
    SAME(write(twin, "twin\n", 5), 5);
    SAME(lseek(f, 0, SEEK_CUR), 15);
    io_uring_prep_close(next(), f);
    SAME(done(), 0);
    SAME(read(f, bytes, 1), -1);
    SAME(errno, EBADF);
    /* The number again, as another file. */
    io_uring_prep_close(next(), other);
    SAME(done(), 0);
    int again = dirty("again", 0);
    CHECK(again == f || again == other);
    BYTES_AT(again, 0, "some dirty ");
    SAME(close(again), 0);
    SAME(close(twin), 0);
}

/* Files that the ring knows by numbers of its own, when the descriptor is closed already. */
static void registered(void)
{
    char room[4096] __attribute__((aligned(4096))), bytes[32];
    struct iovec buffer = {room, sizeof room};
    int files[2] = {dirty("registered", 0), -1};
    SAME(io_uring_register_files(&ring, files, 2), 0);
    SAME(io_uring_register_buffers(&ring, &buffer, 1), 0);
    SAME(close(files[0]), 0);
    memcpy(room, "fixed ", 6);
    struct io_uring_sqe *entry = next();
    io_uring_prep_write_fixed(entry, 0, room, 6, 11, 0);
    entry->flags |= IOSQE_FIXED_FILE;
    SAME(done(), 6);
    int f = open("registered", O_RDWR);
    BYTES_AT(f, 0, "some dirty fixed ");
    /* Written by a call, read by the ring, and once more. */
    for (int i = 0; i < 3; i++) {
        bytes[0] = '0' + i;
        SAME(pwrite(f, bytes, 1, 17), 1);
        entry = next();
        io_uring_prep_read_fixed(entry, 0, room, 1, 17, 0);
        entry->flags |= IOSQE_FIXED_FILE;
        SAME(done(), 1);
        SAME(room[0], '0' + i);
        room[0] = 'a' + i;
        entry = next();
        io_uring_prep_write_fixed(entry, 0, room, 1, 18, 0);
        entry->flags |= IOSQE_FIXED_FILE;
        SAME(done(), 1);
        SAME(pread(f, bytes, 1, 18), 1);
        SAME(bytes[0], 'a' + i);
    }
    /* A child sees it, too. */
    SAME(system("test \"$(cat registered)\" = 'some dirty fixed 2c'"), 0);
    SAME(close(f), 0);
    /* Opened into the ring's own table. */
    io_uring_prep_openat_direct(next(), AT_FDCWD, "registered", O_RDWR | O_APPEND, 0, 1);
    int result = done();
    if (result == 0) {
        entry = next();
        io_uring_prep_write(entry, 1, "!\n", 2, 0);
        entry->flags |= IOSQE_FIXED_FILE;
        SAME(done(), 2);
        f = open("registered", O_RDONLY);
        BYTES_AT(f, 0, "some dirty fixed 2c!\n");
        SAME(close(f), 0);
        io_uring_prep_close_direct(next(), 1);
        SAME(done(), 0);
    } else {
        SAME(result, -EINVAL);
    }
    SAME(io_uring_unregister_files(&ring), 0);
}

/* Calls beside reading and writing. */
static void others(void)
{
    struct statx st;
    int f = dirty("other", 0);
    io_uring_prep_statx(next(), AT_FDCWD, "other", 0, STATX_SIZE, &st);
    SAME(done(), 0);
    SAME(st.stx_size, 11);
    io_uring_prep_fallocate(next(), f, 0, 0, 20);
    int result = done();
    if (result == 0) {
        SAME(lseek(f, 0, SEEK_END), 20);
    } else {
        SAME(result, -EOPNOTSUPP);
    }
    io_uring_prep_fsync(next(), f, 0);
    SAME(done(), 0);
    io_uring_prep_renameat(next(), AT_FDCWD, "other", AT_FDCWD, "renamed", 0);
    SAME(done(), 0);
    SAME(pwrite(f, "SOME", 4, 0), 4);
    SAME(ftruncate(f, 11), 0);
    int pair[2];
    SAME(pipe(pair), 0);
    io_uring_prep_splice(next(), f, 0, pair[1], -1, 11, 0);
    SAME(done(), 11);
    char bytes[16];
    SAME(read(pair[0], bytes, 16), 11);
    CHECK(memcmp(bytes, "SOME dirty ", 11) == 0);
    SAME(close(f), 0);
}

int main(void)
{
    int before = dirty("before", 0);
    int result = io_uring_queue_init(8, &ring, 0);
    if (result < 0) {
        CHECK(result == -ENOSYS || result == -EPERM);
        return 0;
    }
    offsets(before);
    appends();
    opened_by_ring();
    registered();
    others();
    /* Inherited: the child uses the same ring on a file of its own. */
    pid_t child = fork();
    if (child == 0) {
        int f = dirty("inherited", 0);
        SAME(ring_write(f, "ring\n", 5, -1), 5);
        BYTES_AT(f, 0, "some dirty ring\n");
        _exit(close(f));
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    io_uring_queue_exit(&ring);
    /* The kernel's own thread takes what is submitted. */
    struct io_uring_params polled = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 100};
    if (io_uring_queue_init_params(8, &ring, &polled) == 0) {
        int f = dirty("polled", 0);
        SAME(ring_write(f, "ring ", 5, 11), 5);
        usleep(300000);
        SAME(pwrite(f, "call\n", 5, 16), 5);
        char bytes[32];
        SAME(ring_read(f, bytes, 21, 0), 21);
        CHECK(memcmp(bytes, "some dirty ring call\n", 21) == 0);
        SAME(close(f), 0);
        io_uring_queue_exit(&ring);
    } else {
        int f = open("polled", O_WRONLY | O_CREAT, 0644);
        SAME(write(f, "some dirty ring call\n", 21), 21);
    }
    SAME(close(before), 0);
    return 0;
}
