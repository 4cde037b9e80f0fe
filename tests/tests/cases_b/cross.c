/* Two processes and two files: each writes one and reads the other. usage: cross SECONDS */
#include "case.h"
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static int side(const char *mine, const char *other, double seconds) {
    static char b[131072], back[131072];
    int w = MUST(open(mine, O_RDWR | O_CREAT, 0644)), r = MUST(open(other, O_RDWR | O_CREAT, 0644));
    double begun = now(), last = begun, longest = 0;
    long rounds = 0;
    while (last < begun + seconds) {
        memset(b, 'a' + rounds % 26, sizeof b);
        MUST(pwrite(w, b, sizeof b, 0));
        /* How much of the other's first write is there is nobody's promise: the kernel grows a file page by page. */
        MUST(pread(r, back, sizeof back, 0));
        if (rounds % 5 == 0) MUST(fsync(w));
        if (rounds % 7 == 0) MUST(fsync(r));
        if (rounds % 11 == 0) MUST(copy_file_range(r, &(off_t){0}, w, &(off_t){65536}, 4096, 0));
        double t = now();
        if (t - last > longest) longest = t - last;
        last = t;
        rounds++;
    }
    return rounds < 10 || longest > 5;
}
int main(int argc, char **argv) {
    double seconds = atof(argv[1]);
    pid_t child = MUST(fork());
    if (!child) _exit(side("g", "f", seconds));
    int mine = side("f", "g", seconds), status;
    MUST(waitpid(child, &status, 0));
    printf("%d %d\n", mine, status);
    unlink("f");
    unlink("g");
    return 0;
}
