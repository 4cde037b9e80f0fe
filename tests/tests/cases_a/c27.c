/* Rings, native asynchronous calls and POSIX ones over a file with unflushed bytes. */
#include "case.h"
#include <aio.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>

static struct io_uring_params params;
static char *submission, *completion;
static struct io_uring_sqe *entries;
static int ring = -1;

static int set_up(void)
{
    ring = syscall(SYS_io_uring_setup, 4, &params);
    if (ring < 0) {
        CHECK(errno == ENOSYS || errno == EPERM);
        return 0;
    }
    size_t size = params.sq_off.array + params.sq_entries * 4;
    size_t done = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    submission = mmap(NULL, size, protection, flags, ring, IORING_OFF_SQ_RING);
    completion = mmap(NULL, done, protection, flags, ring, IORING_OFF_CQ_RING);
    entries = mmap(NULL, params.sq_entries * sizeof *entries, protection, flags, ring, IORING_OFF_SQES);
    CHECK(submission != MAP_FAILED && completion != MAP_FAILED && entries != MAP_FAILED);
    return 1;
}

static int by_ring(int opcode, int f, void *bytes, int length, long long offset)
{
    unsigned *tail = (unsigned *)(submission + params.sq_off.tail), *array = (unsigned *)(submission + params.sq_off.array);
    unsigned *head = (unsigned *)(completion + params.cq_off.head), index = *tail % params.sq_entries;
    memset(&entries[index], 0, sizeof entries[index]);
    entries[index].opcode = opcode;
    entries[index].fd = f;
    entries[index].addr = (uint64_t)bytes;
    entries[index].len = length;
    entries[index].off = offset;
    array[index] = index;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    SAME(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0), 1);
    struct io_uring_cqe *cqes = (struct io_uring_cqe *)(completion + params.cq_off.cqes);
    int result = cqes[*head % params.cq_entries].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
}

static void rings(int f)
{
    char bytes[16];
    SAME(pwrite(f, "ring-", 5, 0), 5);
    if (!set_up())
        return;
    SAME(by_ring(IORING_OP_READ, f, bytes, 5, 0), 5);
    CHECK(memcmp(bytes, "ring-", 5) == 0);
    SAME(pwrite(f, "late", 4, 0), 4);
    SAME(by_ring(IORING_OP_READ, f, bytes, 5, 0), 5);
    CHECK(memcmp(bytes, "late-", 5) == 0);
    SAME(by_ring(IORING_OP_WRITE, f, "BY", 2, 1), 2);
    BYTES_AT(f, 0, "lBYe-");
    /* A file opened after the ring was set up, and the descriptor's own offset. */
    int g = open("after", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(g, "0123456789", 10), 10);
    SAME(lseek(g, 4, SEEK_SET), 4);
    SAME(by_ring(IORING_OP_READ, g, bytes, 3, -1), 3);
    CHECK(memcmp(bytes, "456", 3) == 0);
    SAME(lseek(g, 0, SEEK_CUR), 7);
    SAME(by_ring(IORING_OP_WRITE, g, "xyz", 3, -1), 3);
    SAME(write(g, "!", 1), 1);
    BYTES_AT(g, 0, "0123456xyz!");
    SAME(by_ring(IORING_OP_FSYNC, g, NULL, 0, 0), 0);
    /* Opened and closed by the ring. */
    int opened = by_ring(IORING_OP_OPENAT, AT_FDCWD, "after", 0, 0);
    if (opened >= 0) {
        BYTES_AT(opened, 0, "0123456xyz!");
        SAME(by_ring(IORING_OP_CLOSE, opened, NULL, 0, 0), 0);
        SAME(pread(opened, bytes, 1, 0), -1);
    }
    SAME(system("test \"$(cat after)\" = '0123456xyz!'"), 0);
}

static void native(int f)
{
    char bytes[16];
    aio_context_t context = 0;
    SAME(syscall(SYS_io_setup, 4, &context), 0);
    SAME(pwrite(f, "native", 6, 100), 6);
    struct iocb block = {.aio_fildes = f, .aio_lio_opcode = IOCB_CMD_PREAD, .aio_buf = (uint64_t)bytes,
                         .aio_nbytes = 6, .aio_offset = 100};
    struct iocb *blocks[1] = {&block};
    struct io_event event;
    SAME(syscall(SYS_io_submit, context, 1, blocks), 1);
    SAME(syscall(SYS_io_getevents, context, 1, 1, &event, NULL), 1);
    SAME(event.res, 6);
    CHECK(memcmp(bytes, "native", 6) == 0);
    block.aio_lio_opcode = IOCB_CMD_PWRITE;
    block.aio_buf = (uint64_t) "WROTE!";
    SAME(syscall(SYS_io_submit, context, 1, blocks), 1);
    SAME(syscall(SYS_io_getevents, context, 1, 1, &event, NULL), 1);
    SAME(event.res, 6);
    BYTES_AT(f, 100, "WROTE!");
    SAME(syscall(SYS_io_destroy, context), 0);
}

static void posix(int f)
{
    char bytes[16] = "";
    SAME(pwrite(f, "posix", 5, 200), 5);
    struct aiocb block = {.aio_fildes = f, .aio_buf = bytes, .aio_nbytes = 5, .aio_offset = 200};
    const struct aiocb *list[1] = {&block};
    SAME(aio_read(&block), 0);
    while (aio_error(&block) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    SAME(aio_return(&block), 5);
    CHECK(memcmp(bytes, "posix", 5) == 0);
    block.aio_buf = "asynchronous";
    block.aio_nbytes = 12;
    SAME(aio_write(&block), 0);
    while (aio_error(&block) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    SAME(aio_return(&block), 12);
    BYTES_AT(f, 200, "asynchronous");
    SAME(aio_fsync(O_SYNC, &block), 0);
    while (aio_error(&block) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    SAME(aio_return(&block), 0);
}

int main(int argc, char **argv)
{
    int f = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "some bytes first", 16), 16);
    if (strcmp(argv[1], "posix") == 0)
        posix(f);
    else if (strcmp(argv[1], "native") == 0)
        native(f);
    else
        rings(f);
    return close(f);
}
