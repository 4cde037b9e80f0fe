/* Many rounds leave no descriptor behind; the limit is met where it stands. */
#include "case.h"
#include <dirent.h>
static int descriptors(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d)) n++;
    closedir(d);
    return n;
}
int main(int argc, char **argv) {
    int rounds = atoi(argv[1]);
    int first = MUST(open("warm", O_RDWR | O_CREAT, 0644));
    MUST(write(first, "w", 1));
    int before = descriptors();
    for (int i = 0; i < rounds; i++) {
        int f = MUST(open("a", O_RDWR | O_CREAT, 0644));
        if (f != first + 1) return 2;
        MUST(write(f, "round", 5));
        if (i % 16 == 0) MUST(posix_fallocate(f, 0, 8192));
        MUST(rename("a", "b"));
        MUST(close(f));
    }
    printf("same count: %d\n", descriptors() == before);
    struct rlimit limit = {64, 64};
    MUST(setrlimit(RLIMIT_NOFILE, &limit));
    int n = 0;
    while (open("b", O_RDWR) >= 0) n++;
    printf("then %s, a few less than the limit: %d\n", strerrorname_np(errno), n >= 56 && n <= 61);
    char c;
    SAY(pread(20, &c, 1, 0));
    SAY(pwrite(20, "X", 1, 4000));
    for (int f = 3; f < 64; f++) close(f);
    SAY(open("b", O_RDWR));
    SAY(write(3, "after", 5));
    return 0;
}
