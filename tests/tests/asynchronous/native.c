/* The kernel's asynchronous calls by their library, with and without O_DIRECT. */
#include "case.h"
#include <libaio.h>
#include <poll.h>
#include <sys/eventfd.h>

static io_context_t context;

/* Submits one request and gives its result. */
static long done(struct iocb *request)
{
    struct io_event event;
    SAME(io_submit(context, 1, &request), 1);
    SAME(io_getevents(context, 1, 1, &event, NULL), 1);
    CHECK(event.obj == request);
    return (long)event.res;
}

static void buffered(void)
{
    struct iocb request;
    char bytes[32];
    int f = open("buffered", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "some ", 5), 5);
    SAME(write(f, "dirty ", 6), 6);
    io_prep_pread(&request, f, bytes, 11, 0);
    SAME(done(&request), 11);
    CHECK(memcmp(bytes, "some dirty ", 11) == 0);
    io_prep_pwrite(&request, f, "native ", 7, 11);
    SAME(done(&request), 7);
    SAME(lseek(f, 0, SEEK_CUR), 11);
    SAME(lseek(f, 0, SEEK_END), 18);
    SAME(write(f, "call ", 5), 5);
    struct iovec vector[2] = {{"two ", 4}, {"parts\n", 6}};
    io_prep_pwritev(&request, f, vector, 2, 23);
    SAME(done(&request), 10);
    BYTES_AT(f, 0, "some dirty native call two parts\n");
    int other = open("buffered", O_RDONLY);
    BYTES_AT(other, 23, "two parts\n");
    io_prep_fsync(&request, f);
    SAME(done(&request), 0);
    io_prep_fdsync(&request, f);
    SAME(done(&request), 0);
    /* Told by an event. */
    int event = eventfd(0, EFD_NONBLOCK);
    io_prep_pread(&request, f, bytes, 4, 0);
    io_set_eventfd(&request, event);
    SAME(done(&request), 4);
    uint64_t count;
    SAME(read(event, &count, 8), 8);
    SAME(count, 1);
    io_prep_poll(&request, event, POLLOUT);
    CHECK(done(&request) & POLLOUT);
    /* Several at once, of several files. */
    struct iocb requests[3], *list[3] = {&requests[0], &requests[1], &requests[2]};
    struct io_event events[3];
    int g = open("second", O_RDWR | O_CREAT | O_APPEND, 0644);
    SAME(write(g, "begun ", 6), 6);
    SAME(write(g, "dirty ", 6), 6);
    io_prep_pwrite(&requests[0], f, "SOME", 4, 0);
    io_prep_pwrite(&requests[1], g, "appended\n", 9, 0);
    io_prep_pread(&requests[2], other, bytes, 5, 5);
    SAME(io_submit(context, 3, list), 3);
    SAME(io_getevents(context, 3, 3, events, NULL), 3);
    CHECK(memcmp(bytes, "dirty", 5) == 0);
    BYTES_AT(g, 0, "begun dirty appended\n");
    BYTES_AT(f, 0, "SOME dirty");
    /* What the kernel refuses. */
    struct iocb *bad = (struct iocb *)8;
    SAME(io_submit(context, 1, &bad), -EFAULT);
    SAME(io_submit(context, 1, (struct iocb **)8), -EFAULT);
    io_prep_pread(&request, 999, bytes, 4, 0);
    list[0] = &request;
    SAME(io_submit(context, 1, list), -EBADF);
    SAME(close(f), 0);
    SAME(close(g), 0);
    SAME(close(other), 0);
}

static void direct(void)
{
    static char block[8192] __attribute__((aligned(4096)));
    struct iocb request;
    int f = open("direct", O_RDWR | O_CREAT | O_TRUNC, 0644);
    memset(block, 'a', sizeof block);
    SAME(write(f, block, 5000), 5000);
    SAME(write(f, block, 3192), 3192);
    int g = open("direct", O_RDWR | O_DIRECT);
    if (g >= 0) {
        memset(block, 0, sizeof block);
        io_prep_pread(&request, g, block, 4096, 4096);
        SAME(done(&request), 4096);
        CHECK(block[0] == 'a' && block[4095] == 'a');
        memset(block, 'b', 4096);
        io_prep_pwrite(&request, g, block, 4096, 0);
        SAME(done(&request), 4096);
        SAME(pwrite(f, "c", 1, 1), 1);
        BYTES_AT(f, 0, "bcbb");
        io_prep_pread(&request, g, block, 4096, 0);
        SAME(done(&request), 4096);
        CHECK(memcmp(block, "bcbb", 4) == 0);
        SAME(close(g), 0);
    } else {
        SAME(errno, EINVAL);
        SAME(pwrite(f, "bc", 2, 0), 2);
    }
    if (g >= 0)
        BYTES_AT(f, 4095, "ba");
    SAME(ftruncate(f, 2), 0);
    SAME(close(f), 0);
}

int main(void)
{
    SAME(io_setup(8, &context), 0);
    buffered();
    direct();
    SAME(io_destroy(context), 0);
    return 0;
}
