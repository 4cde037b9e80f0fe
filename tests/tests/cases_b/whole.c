/* Reads a file of exactly 4 GiB to its end. */
#include "case.h"
static char buffer[8 << 20];
int main(void) {
    int g = MUST(open("g", O_RDWR | O_CREAT, 0644));
    SAY(pwrite(g, "e", 1, (1LL << 32) - 1));
    long long total = 0, n, rounds = 0;
    while ((n = read(g, buffer, sizeof buffer)) > 0) {
        total += n;
        if (++rounds > 10000) return 3;
    }
    printf("read %lld, then %lld\n", total, n);
    return unlink("g");
}
