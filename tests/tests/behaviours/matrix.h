/* A matrix of calls: each prints its label, what it gave, and where that left the file. */
#ifndef MATRIX_H
#define MATRIX_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* Room for one line of the label. */
static char label_[512];

static inline const char *named(int error) {
    const char *name = strerrorname_np(error);
    return name ? name : "0";
}

/* Prints to the standard output, which is outside the store, in one piece. */
static inline void line(const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n > (int)sizeof text - 2) n = sizeof text - 2;
    text[n++] = '\n';
    for (int done = 0; done < n;) {
        ssize_t put = write(1, text + done, n - done);
        if (put <= 0) _exit(3);
        done += put;
    }
}

/* Sets the label of the next results. */
#define LABEL(...) snprintf(label_, sizeof label_, __VA_ARGS__)

/* Prints the label and the call with its value or its error; `errno` after a success must be what it was. */
#define R(call)                                                                                              \
    ({                                                                                                       \
        errno = 0;                                                                                           \
        long long r_ = (long long)(call);                                                                    \
        int e_ = errno;                                                                                      \
        if (r_ == -1) line("%s %s = %s", label_, #call, named(e_));                                            \
        else if (e_) line("%s %s = %lld errno %s", label_, #call, r_, named(e_));                               \
        else line("%s %s = %lld", label_, #call, r_);                                                          \
        r_;                                                                                                  \
    })

/* As R, for calls whose value is of no interest: a pointer, a process id. */
#define OK(call)                                                                                             \
    ({                                                                                                       \
        errno = 0;                                                                                           \
        long long r_ = (long long)(call);                                                                    \
        int e_ = errno;                                                                                      \
        line("%s %s: %s", label_, #call, r_ == -1 ? named(e_) : "done");                                       \
        r_;                                                                                                  \
    })

/* Ends the program where the scenery itself fails. */
#define NEED(call)                                                                                           \
    ({                                                                                                       \
        long long r_ = (long long)(call);                                                                    \
        if (r_ == -1) {                                                                                      \
            line("line %d: %s: %s", __LINE__, #call, named(errno));                                          \
            _exit(2);                                                                                        \
        }                                                                                                    \
        r_;                                                                                                  \
    })

/* Whether to leave this cell out: of large matrices, a test takes each MATRIX_STRIDE-th cell, all without that. */
static inline int left_out(void) {
    static long cell, stride;
    if (!stride) stride = getenv("MATRIX_STRIDE") ? atol(getenv("MATRIX_STRIDE")) : 1;
    return cell++ % (stride > 0 ? stride : 1) != 0;
}

/* A number that stands for `n` bytes. */
static inline unsigned long digest(const void *p, size_t n) {
    unsigned long h = 14695981039346656037ul;
    for (const unsigned char *c = p; n; n--, c++) h = (h ^ *c) * 1099511628211ul;
    return h & 0xffffff;
}

/* Fills `n` bytes with a pattern of its own for each `seed`. */
static inline void pattern(void *p, size_t n, int seed) {
    unsigned char *c = p;
    for (size_t i = 0; i < n; i++) c[i] = (unsigned char)(seed * 31 + i * 7 + (i >> 8));
}

/* Size, offset and bytes (the first MiB) of an open file, as the program sees them. */
static inline void state(int fd) {
    struct stat st;
    off_t at = lseek(fd, 0, SEEK_CUR);
    int told = fstat(fd, &st);
    static unsigned char bytes[1 << 20];
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    int error = n < 0 ? errno : 0;
    line("%s   at %lld size %lld bytes %zd %06lx %s", label_, (long long)at, told ? -1ll : (long long)st.st_size, n,
         n > 0 ? digest(bytes, n) : 0, error ? named(error) : "");
}

/* A fresh file of `n` bytes that has been closed, so that the real file has them. */
static inline void settled(const char *name, size_t n) {
    unlink(name);
    int fd = NEED(open(name, O_CREAT | O_TRUNC | O_RDWR, 0644));
    unsigned char *bytes = malloc(n + 1);
    pattern(bytes, n, 1);
    if (n && write(fd, bytes, n) != (ssize_t)n) _exit(2);
    free(bytes);
    close(fd);
}

/* An open file of `n` bytes of which the last ones were written through this descriptor, at offset `n`. */
static inline int dirty(const char *name, size_t n, int flags) {
    settled(name, n);
    int fd = NEED(open(name, flags));
    if ((flags & O_ACCMODE) != O_RDONLY) {
        char bytes[100];
        pattern(bytes, sizeof bytes, 2);
        for (int i = 0; i < 3; i++)
            if (pwrite(fd, bytes, sizeof bytes, (flags & O_APPEND) ? 0 : (off_t)(n / 2 + i * 50)) != sizeof bytes) _exit(2);
    }
    return fd;
}

/* Three pages: one that is good, one that may be read only, one that is not there at all; the good one's start. */
static inline char *edge(size_t good) {
    size_t page = 4096, whole = (good + page - 1) / page * page;
    char *p = mmap(0, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) _exit(2);
    munmap(p + whole, 2 * page);
    /* Keeps the hole a hole. */
    if (mmap(p + whole, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) _exit(2);
    return p + whole - good;
}

#endif
