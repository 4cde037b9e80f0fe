/* What gets killed. usage: crasher WHAT ARGUMENTS; prints "ready" where it waits to be killed. */
#include "../cases_b/case.h"
static void ready(void) {
    puts("ready");
    fflush(stdout);
    for (;;) pause();
}
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static int survive(const char *name, int flags, int mode) {
    int f = MUST(open(name, flags | O_CREAT, mode));
    MUST(write(f, "survive", 7));
    return f;
}
static void hold(const char *how) {
    if (!strcmp(how, "plain")) survive("f", O_RDWR, 0644);
    if (!strcmp(how, "writeonly")) survive("f", O_WRONLY, 0644);
    if (!strcmp(how, "append")) survive("f", O_WRONLY | O_APPEND, 0644);
    if (!strcmp(how, "readonly")) survive("f", O_RDWR, 0444);
    if (!strcmp(how, "renamed")) {
        survive("g", O_RDWR, 0644);
        MUST(rename("g", "f"));
    }
    if (!strcmp(how, "moved")) {
        MUST(mkdir("d", 0755));
        survive("d/g", O_RDWR, 0644);
        MUST(rename("d/g", "f"));
        MUST(rmdir("d"));
    }
    if (!strcmp(how, "several")) {
        char name[16];
        for (int i = 0; i < 100; i++) {
            snprintf(name, sizeof name, "f%d", i);
            survive(name, O_RDWR, 0644);
        }
        survive("f", O_RDWR, 0644);
    }
    if (!strcmp(how, "duplicated")) {
        int f = survive("f", O_RDWR, 0644);
        MUST(dup2(f, 50));
        MUST(close(f));
    }
    if (!strcmp(how, "large")) {
        char *b = malloc(5000000);
        memset(b, 's', 5000000);
        int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
        MUST(pwrite(f, b, 5000000, 7));
        MUST(pwrite(f, "survive", 7, 0));
    }
    if (!strcmp(how, "forked")) {
        int f = survive("f", O_RDWR, 0644);
        pid_t child = MUST(fork());
        if (!child) {
            /* Keeps it open until it is told to go, and looks at it once more. */
            char b[8];
            while (access("go", F_OK)) usleep(1000);
            if (pread(f, b, 7, 0) == 7 && !memcmp(b, "survive", 7)) MUST(write(f, "+child", 6));
            _exit(0);
        }
    }
    ready();
}
/* Records that say where they are; closes, opens anew and synchronises now and then. */
static int loop(const char *name, double seconds, int fsyncs) {
    int f = MUST(open(name, O_RDWR | O_CREAT, 0644));
    double end = now() + seconds;
    long n = 0, longest = 0;
    puts("looping");
    fflush(stdout);
    while (now() < end) {
        double before = now();
        char b[1000], back[1000];
        memset(b, 'a' + n % 26, sizeof b);
        memcpy(b, &n, sizeof n);
        if (pwrite(f, b, sizeof b, n * 1000) != 1000) MUST(-1);
        if (pread(f, back, sizeof back, n / 2 * 1000) != 1000 || *(long *)back != n / 2) {
            printf("wrong record %ld\n", n / 2);
            return 1;
        }
        n++;
        if (n % 100 == 0) {
            MUST(close(f));
            f = MUST(open(name, O_RDWR));
        }
        if (fsyncs && n % 250 == 0) MUST(fsync(f));
        if (n % 300 == 0) {
            char other[64];
            snprintf(other, sizeof other, "%s.%ld", name, n % 7);
            int g = MUST(open(other, O_RDWR | O_CREAT | O_TRUNC, 0644));
            MUST(write(g, other, strlen(other)));
            MUST(close(g));
        }
        long took = (now() - before) * 1000;
        if (took > longest) longest = took;
        if (n >= 100000) usleep(1000);
        if (n >= 200000) break;
    }
    MUST(close(f));
    printf("%ld %ld\n", n, longest);
    return 0;
}
/* Records by several descriptors; says after each that it was taken. */
static int report(void) {
    int f[3] = {MUST(open("f", O_RDWR | O_CREAT, 0644)), MUST(open("f", O_WRONLY)), MUST(open("f", O_WRONLY | O_APPEND))};
    for (long n = 0; n < 1000000; n++) {
        char b[1000], line[32];
        memset(b, 'a' + n % 26, sizeof b);
        memcpy(b, &n, sizeof n);
        int g = f[n % 3];
        if ((n % 3 == 2 ? write(g, b, sizeof b) : pwrite(g, b, sizeof b, n * 1000)) != 1000) MUST(-1);
        if (n % 500 == 499) {
            MUST(close(f[0]));
            f[0] = MUST(open("f", O_RDWR));
        }
        if (write(1, line, snprintf(line, sizeof line, "%ld\n", n)) < 0) return 1;
    }
    return 0;
}
/* Rates of cached reads and writes, by the half second, as long as there is a file "go". */
static int rates(void) {
    static char b[4096], back[4096];
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    memset(b, 'r', sizeof b);
    for (int i = 0; i < 64; i++) MUST(pwrite(f, b, sizeof b, i * 4096));
    while (!access("go", F_OK)) {
        double end = now() + 0.5;
        long n = 0;
        while (now() < end) {
            for (int i = 0; i < 64; i++, n++) {
                MUST(pwrite(f, b, sizeof b, i * 4096));
                if (pread(f, back, sizeof back, i * 4096) != 4096 || back[9] != 'r') return 1;
            }
        }
        printf("%ld\n", n);
        fflush(stdout);
    }
    return 0;
}
/* Writes pages until there is no room, and says what was reported. */
static int fill(const char *name, int pages, int descriptors) {
    static char b[4096];
    int f[8], said = 0;
    for (int i = 0; i < descriptors; i++) f[i] = MUST(open(name, O_RDWR | O_CREAT, 0644));
    long done = 0;
    for (int i = 0; i < pages; i++, done++) {
        memset(b, 'A' + i % 26, sizeof b);
        if (pwrite(f[i % descriptors], b, sizeof b, i * 4096L) != 4096) {
            said |= errno == ENOSPC;
            break;
        }
    }
    if (fsync(f[0])) said |= errno == ENOSPC ? 2 : 64;
    for (int i = 0; i < descriptors; i++)
        if (close(f[i])) said |= errno == ENOSPC ? 4 : 64;
    printf("wrote %ld, said %d\n", done, said);
    return 0;
}
/* Stores into a mapping that the file system has no room for. */
static int map(const char *name) {
    int f = MUST(open(name, O_RDWR | O_CREAT, 0644));
    MUST(write(f, "x", 1));
    MUST(ftruncate(f, 40 * 4096));
    char *m = mmap(NULL, 40 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    if (m == MAP_FAILED) return 2;
    for (int i = 0; i < 40; i++) m[i * 4096L] = 'm';
    return 0;
}
int main(int argc, char **argv) {
    if (!strcmp(argv[1], "hold")) hold(argv[2]);
    if (!strcmp(argv[1], "loop")) return loop(argv[2], atof(argv[3]), argc > 4);
    if (!strcmp(argv[1], "report")) return report();
    if (!strcmp(argv[1], "rates")) return rates();
    if (!strcmp(argv[1], "fill")) return fill(argv[2], atoi(argv[3]), atoi(argv[4]));
    if (!strcmp(argv[1], "map")) return map(argv[2]);
    return 9;
}
