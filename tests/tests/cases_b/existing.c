/* Part of a file from elsewhere is overwritten; reads end where the file does. */
#include "case.h"
int main(void) {
    static char x[100], back[400];
    memset(x, 'x', sizeof x);
    int f = MUST(open("f", O_RDWR));
    SAY(write(f, x, 100));
    SAY(lseek(f, 290, SEEK_SET));
    SAY(read(f, back, 100));
    SAY(read(f, back, 100));
    SAY(pread(f, back, 100, 1LL << 40));
    SAY(pread(f, back, 400, 0));
    HOLDS(all(back, 'x', 100) && all(back + 100, 'o', 200));
    SAY(read(f, NULL, 8));
    SAY(lseek(f, 0, SEEK_SET));
    SAY(read(f, NULL, 8));
    SAY(lseek(f, 0, SEEK_CUR));
    SAY(close(f));
    return 0;
}
