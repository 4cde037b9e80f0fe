/* Ends by one of libc's checks, after something was written to standard error by write and by a stream. */
#define _FORTIFY_SOURCE 2
#include "case.h"
#include <assert.h>
#include <execinfo.h>
#include <netdb.h>

static char *volatile twice;

__attribute__((noinline)) static void smash(volatile int n)
{
    char room[8];
    for (volatile int i = 0; i < n; i++)
        ((volatile char *)room)[i] = 'a';
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    volatile size_t n = 100;
    char room[8];
    SAME(write(2, "written\n", 8), 8);
    fprintf(stderr, "printed %s\n", what);
    SAME(write(1, "to output\n", 10), 10);
    if (!strcmp(what, "overflow"))
        read(0, room, n);
    if (!strcmp(what, "stack"))
        smash(64);
    if (!strcmp(what, "heap")) {
        twice = malloc(100);
        free(twice);
        free(twice);
    }
    if (!strcmp(what, "fatal")) {
        /* An integrity check of a stream's table of functions. */
        FILE *s = fopen("/dev/null", "w");
        *(void **)((char *)s + 216) = room;
        fputc('x', s);
        fflush(s);
    }
    if (!strcmp(what, "assert"))
        assert(argc == 99);
    if (!strcmp(what, "herror")) {
        h_errno = HOST_NOT_FOUND;
        herror("name");
    }
    if (!strcmp(what, "addresses")) {
        void *list[1] = {main};
        backtrace_symbols_fd(list, 1, 2);
    }
    fprintf(stderr, "end\n");
    return 3;
}
