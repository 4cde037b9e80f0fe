/* Processes that write neighbouring slots of one page, with descriptors that come and go. */
#include "case.h"

enum { WRITERS = 8, ROUNDS = 1000, SLOT = 100 };

static void writer(int me)
{
    unsigned random = 12345 + me;
    char slot[SLOT], back[SLOT];
    int f = open("page", O_RDWR);
    for (int round = 1; round <= ROUNDS; round++) {
        memset(slot, 'a' + me, SLOT);
        snprintf(slot, SLOT, "%d %d", me, round);
        SAME(pwrite(f, slot, SLOT, me * SLOT), SLOT);
        SAME(pread(f, back, SLOT, me * SLOT), SLOT);
        CHECK(memcmp(slot, back, SLOT) == 0);
        random = random * 1103515245 + 12345;
        if ((random >> 16) % 8 == 0) {
            SAME(close(f), 0);
            f = open("page", (random >> 20) % 2 ? O_RDWR : O_RDWR | O_CREAT, 0644);
            CHECK(f >= 0);
            SAME(pread(f, back, SLOT, me * SLOT), SLOT);
            CHECK(memcmp(slot, back, SLOT) == 0);
        }
    }
    _exit(close(f));
}

int main(void)
{
    int f = open("page", O_RDWR | O_CREAT | O_TRUNC, 0644), status;
    SAME(ftruncate(f, 4096), 0);
    SAME(close(f), 0);
    for (int me = 0; me < WRITERS; me++)
        if (fork() == 0)
            writer(me);
    for (int me = 0; me < WRITERS; me++) {
        wait(&status);
        SAME(status, 0);
    }
    f = open("page", O_RDONLY);
    for (int me = 0; me < WRITERS; me++) {
        char slot[SLOT] = "", wanted[SLOT];
        snprintf(wanted, SLOT, "%d %d", me, ROUNDS);
        SAME(pread(f, slot, SLOT, me * SLOT), SLOT);
        CHECK(strcmp(slot, wanted) == 0);
        SAME(slot[SLOT - 1], 'a' + me);
    }
    SAME(lseek(f, 0, SEEK_END), 4096);
    return 0;
}
