/* Calls with several pieces, and a gap that a seek leaves. */
#include "case.h"
int main(void) {
    char b0[1], b1[5], b2[7], all12[13] = "";
    struct iovec v[3] = {{b0, 0}, {b1, 5}, {b2, 7}};
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    MUST(write(f, "hello, worldly things", 21));
    MUST(lseek(f, 0, SEEK_SET));
#define SHOW memcpy(all12, b1, 5), memcpy(all12 + 5, b2, 7), printf("  [%s] at %lld\n", all12, (long long)lseek(f, 0, SEEK_CUR))
    SAY(readv(f, v, 3)); SHOW;
    SAY(preadv(f, v, 3, 2)); SHOW;
    SAY(preadv2(f, v, 3, 1, 0)); SHOW;
    MUST(lseek(f, 3, SEEK_SET));
    SAY(preadv2(f, v, 3, -1, 0)); SHOW;
    SAY(readv(f, v, 3));
    SAY(readv(f, v, 3));
    SAY(preadv(f, v, 3, -1));
    SAY(readv(f, v, -1));
    SAY(readv(f, v, 1025));
    SAY(readv(f, v, 0));
    memcpy(b1, "APPEN", 5), memcpy(b2, "DED!!!!", 7);
    MUST(lseek(f, 4, SEEK_SET));
    SAY(pwritev2(f, v, 3, 0, RWF_APPEND));
    SAY(lseek(f, 0, SEEK_CUR));
    SAY(pwritev2(f, v, 3, -1, RWF_APPEND));
    SAY(lseek(f, 0, SEEK_CUR));
    SAY(pwritev(f, v, 3, 2));
    SAY(writev(f, v, 3));
    SAY(pwritev2(f, v, 3, -1, RWF_DSYNC));
    SAY(lseek(f, 0, SEEK_CUR));
    off_t end = MUST(lseek(f, 1 << 20, SEEK_END));
    SAY(write(f, "1", 1));
    static char gap[1 << 20];
    SAY(pread(f, gap, sizeof gap, end - (1 << 20)));
    HOLDS(all(gap, 0, sizeof gap));
    SAY(lseek(f, 0, SEEK_END));
    return 0;
}
