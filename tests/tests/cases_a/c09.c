/* A shared mapping, read, write and a second open show the same bytes, at once and both ways. */
#include "case.h"

int main(void)
{
    char block[4096], bytes[16];
    memset(block, 'a', sizeof block);
    int f = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0644), other = open("mapped", O_RDWR);
    SAME(write(f, block, sizeof block), sizeof block);
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    CHECK(map != MAP_FAILED);
    CHECK(map[0] == 'a' && map[4095] == 'a');
    SAME(pwrite(f, "BB", 2, 0), 2);
    CHECK(memcmp(map, "BBa", 3) == 0);
    memcpy(map + 10, "CC", 2);
    BYTES_AT(f, 9, "aCCa");
    BYTES_AT(other, 9, "aCCa");
    SAME(pwrite(other, "DD", 2, 20), 2);
    CHECK(memcmp(map + 19, "aDDa", 4) == 0);
    /* Also a file opened after the mapping, and by a child; also after the descriptor is closed. */
    pid_t child = fork();
    if (child == 0) {
        int g = open("mapped", O_RDWR);
        BYTES_AT(g, 9, "aCCa");
        SAME(pwrite(g, "EE", 2, 30), 2);
        memcpy(map + 40, "FF", 2);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    SAME(status, 0);
    CHECK(memcmp(map + 29, "aEEa", 4) == 0);
    BYTES_AT(f, 39, "aFFa");
    SAME(msync(map, 4096, MS_SYNC), 0);
    SAME(close(f), 0);
    SAME(close(other), 0);
    map[50] = 'G';
    f = open("mapped", O_RDWR);
    BYTES_AT(f, 49, "aGa");
    SAME(pwrite(f, "H", 1, 60), 1);
    CHECK(map[60] == 'H');
    SAME(munmap(map, 4096), 0);
    /* A private mapping of dirty bytes; growth beyond a mapping; mremap. */
    SAME(pwrite(f, "dirty", 5, 100), 5);
    char *private = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, f, 0);
    CHECK(private != MAP_FAILED && memcmp(private + 100, "dirty", 5) == 0);
    memcpy(private + 100, "mine.", 5);
    BYTES_AT(f, 100, "dirty");
    SAME(munmap(private, 4096), 0);
    map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    SAME(ftruncate(f, 3 * 4096), 0);
    map = mremap(map, 4096, 3 * 4096, MREMAP_MAYMOVE);
    CHECK(map != MAP_FAILED);
    strcpy(map + 2 * 4096, "grown");
    BYTES_AT(f, 2 * 4096, "grown");
    SAME(pwrite(f, "read", 4, 4096), 4);
    CHECK(memcmp(map + 4096, "read", 4) == 0);
    SAME(munmap(map, 3 * 4096), 0);
    SAME(read(f, bytes, 2), 2);
    CHECK(memcmp(bytes, "BB", 2) == 0);
    return 0;
}
