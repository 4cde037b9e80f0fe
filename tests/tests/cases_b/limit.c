/* A limit on the size of files. */
#include "case.h"
int main(void) {
    static char b[150];
    struct rlimit limit = {100, 100};
    signal(SIGXFSZ, SIG_IGN);
    MUST(setrlimit(RLIMIT_FSIZE, &limit));
    int f = open("f", O_RDWR | O_CREAT, 0644);
    long first = write(f, b, 150), second = write(f, b, 1);
    int error = errno, cut = ftruncate(f, 200), why = errno;
    long inside = pwrite(f, "in", 2, 98), across = pwrite(f, "abc", 3, 98), beyond = pwrite(f, b, 1, 100);
    int grown = ftruncate(f, 100), end = lseek(f, 0, SEEK_END), closed = close(f);
    /* What is printed goes to a file, too, and may be as long as that. */
    printf("%ld %ld %d ", first, second, error == EFBIG);
    printf("%d %d %ld %ld %ld ", cut, why == EFBIG, inside, across, beyond);
    printf("%d %d %d\n", grown, end, closed);
    fflush(stdout);
    signal(SIGXFSZ, SIG_DFL);
    f = open("f", O_WRONLY | O_APPEND);
    return write(f, b, 1) == 1;
}
