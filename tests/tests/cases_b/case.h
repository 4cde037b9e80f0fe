/* What the programs of these cases share: a line for each result, with the name of the error. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Prints what a call gave: its value, or the error's name. */
#define SAY(call) say(#call, (long long)(call))
static inline void say(const char *what, long long value) {
    if (value < 0) printf("%s = %s\n", what, strerrorname_np(errno));
    else printf("%s = %lld\n", what, value);
    fflush(stdout);
}

/* Ends with a line when a call that has to work does not. */
#define MUST(call) must(#call, (long long)(call))
static inline long long must(const char *what, long long value) {
    if (value < 0) {
        printf("%s: %s\n", what, strerrorname_np(errno));
        exit(1);
    }
    return value;
}

/* Prints "what: yes", or "no". */
#define HOLDS(condition) printf("%s: %s\n", #condition, (condition) ? "yes" : "no")

/* Whether all `n` bytes at `p` are `byte`. */
static inline int all(const void *p, int byte, size_t n) {
    for (const unsigned char *c = (const unsigned char *)p; n; n--, c++)
        if (*c != (unsigned char)byte) return 0;
    return 1;
}
