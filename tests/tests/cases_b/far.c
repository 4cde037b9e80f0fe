/* Offsets that need more than 32 bits, and page numbers that need more than 31. */
#include "case.h"
static char buffer[8 << 20];
int main(void) {
    char b[8] = "??";
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    SAY(pwrite(f, "hi", 2, (1LL << 32) + 7));
    SAY(pread(f, b, 2, (1LL << 32) + 7));
    printf("  %.2s\n", b);
    SAY(pread(f, b, 2, 7));
    HOLDS(all(b, 0, 2));
    SAY(lseek(f, 0, SEEK_END));
    SAY(lseek(f, -2, SEEK_CUR));
    SAY(read(f, b, 8));
    printf("  %.2s\n", b);
    MUST(close(f));
    struct stat st;
    MUST(stat("f", &st));
    printf("size %lld\n", (long long)st.st_size);

    int g = MUST(open("g", O_RDWR | O_CREAT, 0644));
    SAY(pwrite(g, "e", 1, (1LL << 32) - 1));
    SAY(lseek(g, 0, SEEK_END));
    SAY(lseek(g, (1LL << 32) - (64 << 20), SEEK_SET));
    long long total = 0, n;
    while ((n = read(g, buffer, sizeof buffer)) > 0) total += n;
    printf("read %lld, then %lld\n", total, n);
    HOLDS(buffer[sizeof buffer - 1] == 'e');

    /* Beyond 2^31 pages of 4 KiB, and of 64 KiB where the file system goes so far. */
    for (int shift = 43; shift <= 47; shift += 4) {
        char name[8];
        snprintf(name, sizeof name, "h%d", shift);
        int h = MUST(open(name, O_RDWR | O_CREAT, 0644));
        SAY(pwrite(h, "far", 3, (1LL << shift) + 5));
        memset(b, '?', 3);
        SAY(pread(h, b, 3, (1LL << shift) + 5));
        printf("  %.3s\n", b);
        SAY(lseek(h, 0, SEEK_END));
        SAY(pread(h, b, 3, 5));
        HOLDS(all(b, 0, 3) || b[0] == '?');
        SAY(ftruncate(h, 100));
        SAY(close(h));
    }
    return 0;
}
