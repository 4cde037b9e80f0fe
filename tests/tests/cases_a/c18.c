/* Two files, each many times the pool: written in order, rewritten at random, read back. */
#include "case.h"

enum { BLOCK = 4096, BLOCKS = 4096, REWRITES = 6000 };

static uint64_t state = 88172645463325252ULL;
static unsigned version[2][BLOCKS];

static uint64_t random64(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* What block `block` of a file holds at its version; the odd file ends in a part of a block. */
static void fill(char *out, int file, int block)
{
    uint64_t word = (uint64_t)version[file][block] << 40 | (uint64_t)file << 32 | block;
    for (int i = 0; i < BLOCK / 8; i++) {
        word = word * 6364136223846793005ULL + 1442695040888963407ULL;
        memcpy(out + i * 8, &word, 8);
    }
}

int main(void)
{
    static char buffer[BLOCK], wanted[BLOCK];
    int fds[2] = {open("one", O_RDWR | O_CREAT | O_TRUNC, 0644), open("two", O_RDWR | O_CREAT | O_TRUNC, 0644)};
    for (int block = 0; block < BLOCKS; block++)
        for (int file = 0; file < 2; file++) {
            fill(buffer, file, block);
            SAME(write(fds[file], buffer, BLOCK), BLOCK);
        }
    for (int i = 0; i < REWRITES; i++) {
        int file = random64() % 2, block = random64() % BLOCKS;
        version[file][block]++;
        fill(buffer, file, block);
        SAME(pwrite(fds[file], buffer, BLOCK, (off_t)block * BLOCK), BLOCK);
        /* And a look at another. */
        file = random64() % 2, block = random64() % BLOCKS;
        fill(wanted, file, block);
        SAME(pread(fds[file], buffer, BLOCK, (off_t)block * BLOCK), BLOCK);
        CHECK(memcmp(buffer, wanted, BLOCK) == 0);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int file = 0; file < 2; file++)
            SAME(lseek(fds[file], 0, SEEK_SET), 0);
        for (int block = 0; block < BLOCKS; block++)
            for (int file = 0; file < 2; file++) {
                fill(wanted, file, block);
                SAME(read(fds[file], buffer, BLOCK), BLOCK);
                CHECK(memcmp(buffer, wanted, BLOCK) == 0);
            }
        for (int file = 0; file < 2; file++) {
            SAME(read(fds[file], buffer, 1), 0);
            SAME(close(fds[file]), 0);
            fds[file] = open(file ? "two" : "one", O_RDONLY);
        }
    }
    return 0;
}
