/* The map of holes of a file whose bytes nobody has synchronised. */
#include "case.h"
int main(void) {
    static char page[4096];
    memset(page, 'h', sizeof page);
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    SAY(pwrite(f, page, sizeof page, 1 << 20));
    off_t data = lseek(f, 0, SEEK_DATA);
    HOLDS(data == 0 || data == 1 << 20);
    SAY(lseek(f, 1 << 20, SEEK_DATA));
    SAY(lseek(f, 1 << 20, SEEK_HOLE));
    SAY(lseek(f, 0, SEEK_CUR));
    SAY(lseek(f, (1 << 20) + 4096, SEEK_DATA));
    SAY(lseek(f, 1 << 21, SEEK_HOLE));
    SAY(pwrite(f, "tail", 4, 3 << 20));
    off_t hole = lseek(f, 1 << 20, SEEK_HOLE);
    HOLDS(hole >= (1 << 20) + 4096 && hole <= 3 << 20);
    off_t next = lseek(f, hole, SEEK_DATA);
    HOLDS(next >= hole && next <= 3 << 20);
    /* Sparse-aware copies while the bytes are only ours. */
    SAY(system("cp --sparse=always f g && cmp f g"));
    SAY(system("cp --sparse=auto f h && cmp f h"));
    SAY(system("mkdir x && tar -cSf t.tar f && tar -xSf t.tar -C x && cmp f x/f && rm t.tar"));
    SAY(close(f));
    return 0;
}
