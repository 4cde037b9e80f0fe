/* POSIX asynchronous calls: by themselves, in lists, told by signals and threads, cancelled. */
#include "case.h"
#include <aio.h>
#include <pthread.h>

static volatile int told, by_signal;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    by_signal += info->si_code == SI_ASYNCIO;
}

static void on_thread(union sigval value)
{
    __atomic_add_fetch(&told, value.sival_int, __ATOMIC_SEQ_CST);
}

static long wait_for(struct aiocb *request)
{
    const struct aiocb *list[2] = {NULL, request};
    while (aio_error(request) == EINPROGRESS)
        aio_suspend(list, 2, NULL);
    return aio_return(request);
}

static struct aiocb request(int f, void *bytes, size_t n, off_t at)
{
    return (struct aiocb){.aio_fildes = f, .aio_buf = bytes, .aio_nbytes = n, .aio_offset = at,
                          .aio_sigevent.sigev_notify = SIGEV_NONE};
}

int main(void)
{
    char bytes[64] = "", more[64] = "";
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, "some ", 5), 5);
    SAME(write(f, "dirty ", 6), 6);
    struct aiocb r = request(f, bytes, 11, 0);
    SAME(aio_read(&r), 0);
    SAME(wait_for(&r), 11);
    CHECK(memcmp(bytes, "some dirty ", 11) == 0);
    struct aiocb w = request(f, "posix ", 6, 11);
    SAME(aio_write(&w), 0);
    SAME(wait_for(&w), 6);
    BYTES_AT(f, 0, "some dirty posix ");
    SAME(lseek(f, 0, SEEK_CUR), 11);
    for (int how = 0; how < 2; how++) {
        struct aiocb s = request(f, NULL, 0, 0);
        SAME(aio_fsync(how ? O_DSYNC : O_SYNC, &s), 0);
        SAME(wait_for(&s), 0);
    }
    SAME(system("test \"$(cat f)\" = 'some dirty posix '"), 0);
    /* The end of the file, and descriptors that do not fit. */
    r = request(f, bytes, 20, 1000);
    SAME(aio_read(&r), 0);
    SAME(wait_for(&r), 0);
    int g = open("f", O_RDONLY);
    w = request(g, "x", 1, 0);
    if (aio_write(&w) == 0) {
        SAME(wait_for(&w), -1);
        SAME(aio_error(&w), EBADF);
    } else {
        SAME(errno, EBADF);
    }
    r = request(f, (void *)64, 5, 0);
    SAME(aio_read(&r), 0);
    SAME(wait_for(&r), -1);
    SAME(aio_error(&r), EFAULT);
    /* Appends, in the order in which they were asked for, whatever the offset says. */
    int a = open("appended", O_RDWR | O_CREAT | O_APPEND, 0644);
    SAME(write(a, "begun ", 6), 6);
    struct aiocb appends[20];
    char words[20][4];
    for (int i = 0; i < 20; i++) {
        snprintf(words[i], 4, "%02d ", i);
        appends[i] = request(a, words[i], 3, 0);
        SAME(aio_write(&appends[i]), 0);
    }
    for (int i = 0; i < 20; i++)
        SAME(wait_for(&appends[i]), 3);
    BYTES_AT(a, 0, "begun 00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 ");
    /* Lists: waited for, told by a signal, told by a thread. */
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    struct aiocb read_both = request(f, bytes, 5, 0), write_both = request(f, "list\n", 5, 17), none = request(-1, NULL, 0, 0);
    read_both.aio_lio_opcode = LIO_READ;
    write_both.aio_lio_opcode = LIO_WRITE;
    none.aio_lio_opcode = LIO_NOP;
    struct aiocb *list[4] = {&read_both, NULL, &none, &write_both};
    SAME(lio_listio(LIO_WAIT, list, 4, NULL), 0);
    SAME(aio_return(&read_both), 5);
    SAME(aio_return(&write_both), 5);
    BYTES_AT(f, 0, "some dirty posix list\n");
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    read_both.aio_buf = more;
    SAME(lio_listio(LIO_NOWAIT, list, 4, &event), 0);
    SAME(wait_for(&read_both), 5);
    SAME(wait_for(&write_both), 5);
    for (int i = 0; i < 1000 && !by_signal; i++)
        usleep(5000);
    SAME(by_signal, 1);
    event = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_thread, .sigev_value.sival_int = 7};
    SAME(lio_listio(LIO_NOWAIT, list, 4, &event), 0);
    SAME(wait_for(&read_both), 5);
    SAME(wait_for(&write_both), 5);
    for (int i = 0; i < 1000 && told < 7; i++)
        usleep(5000);
    SAME(told, 7);
    w = request(f, "TOLD", 4, 0);
    w.aio_sigevent = event;
    SAME(aio_write(&w), 0);
    SAME(wait_for(&w), 4);
    for (int i = 0; i < 1000 && told < 14; i++)
        usleep(5000);
    SAME(told, 14);
    BYTES_AT(f, 0, "TOLD dirty");
    /* Cancelled or done, nothing in between. */
    SAME(aio_cancel(f, &w), AIO_ALLDONE);
    struct aiocb many[50];
    static char block[4096];
    memset(block, 'm', sizeof block);
    int m = open("many", O_RDWR | O_CREAT, 0644);
    for (int i = 0; i < 50; i++) {
        many[i] = request(m, block, sizeof block, i * (off_t)sizeof block);
        SAME(aio_write(&many[i]), 0);
    }
    CHECK(aio_cancel(m, NULL) != -1);
    for (int i = 0; i < 50; i++) {
        long wrote = wait_for(&many[i]);
        char first = 0;
        CHECK(wrote == 4096 || (wrote == -1 && aio_error(&many[i]) == ECANCELED));
        if (wrote == 4096) {
            SAME(pread(m, &first, 1, i * 4096L), 1);
            SAME(first, 'm');
        }
    }
    SAME(ftruncate(m, 0), 0);
    SAME(close(m), 0);
    SAME(close(a), 0);
    SAME(close(f), 0);
    return 0;
}
