/* Writes, says so by its words, and asks others to look before it closes. */
#include "case.h"
int main(int argc, char **argv) {
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    MUST(write(f, "synced", 6));
    MUST(fsync(f));
    SAY(system(argv[1]));
    MUST(write(f, ", closed", 8));
    MUST(close(f));
    SAY(system(argv[1]));
    return 0;
}
