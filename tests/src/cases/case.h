/* For the programs of the cases: a check that says what did not hold, and the usual headers. */
#ifndef CASE_H
#define CASE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Ends the program with the line and errno unless the condition holds. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            dprintf(2, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);             \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

/* Like CHECK for two integers, which are shown. */
#define SAME(seen, wanted)                                                                                   \
    do {                                                                                                     \
        long long seen_ = (seen), wanted_ = (wanted);                                                        \
        if (seen_ != wanted_) {                                                                              \
            dprintf(2, "%s:%d: %s is %lld, not %lld (errno %d)\n", __FILE__, __LINE__, #seen, seen_,         \
                    wanted_, errno);                                                                         \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

/* Checks that the bytes at `offset` of `fd` are those of the string. */
#define BYTES_AT(fd, offset, text)                                                                           \
    do {                                                                                                     \
        char bytes_at_[sizeof(text)] = {0};                                                                      \
        SAME(pread(fd, bytes_at_, sizeof(text) - 1, offset), (long long)sizeof(text) - 1);                       \
        if (memcmp(bytes_at_, text, sizeof(text) - 1) != 0) {                                                    \
            dprintf(2, "%s:%d: '%s' at %lld, not '%s'\n", __FILE__, __LINE__, bytes_at_, (long long)(offset),    \
                    text);                                                                                   \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

/* Has the handler run at SIGALRM; calls that it interrupts go on. */
static inline void on_alarm(void (*handler)(int)) {
    struct sigaction action = {0};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    CHECK(!sigaction(SIGALRM, &action, 0));
}

/* Whether so many seconds since its first call have not passed. */
static inline int within(int seconds) {
    static struct timespec begun;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!begun.tv_sec) begun = now;
    return now.tv_sec - begun.tv_sec < seconds;
}

#endif
