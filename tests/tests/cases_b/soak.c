/* Random operations on a file that is known by heart. usage: soak SEED STEPS [TURN OF] */
#include "case.h"
#define MOST (1 << 20)
static unsigned char *model, back[MOST];
static long *size, *turn;
static unsigned long long state;
static unsigned next(unsigned below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return below ? (state >> 11) % below : 0;
}
static int f, seed, step;
static void bad(const char *what, long at) {
    printf("seed %d, step %d: %s at %ld, size %ld\n", seed, step, what, at, *size);
    fflush(stdout);
    _exit(1);
}
static void compare(long at, long len) {
    long want = at >= *size ? 0 : at + len > *size ? *size - at : len;
    if (pread(f, back, len, at) != want) bad("length of read", at);
    for (long i = 0; i < want; i++)
        if (back[i] != model[at + i]) bad("byte", at + i);
}
static void one_step(void) {
    long at = next(MOST), len = next(next(4) ? 6000 : 200000) + 1;
    if (at + len > MOST) len = MOST - at;
    switch (next(16)) {
    case 0: case 1: case 2: case 3: case 4:
        for (long i = 0; i < len; i++) back[i] = next(256);
        if (pwrite(f, back, len, at) != len) bad("pwrite", at);
        memcpy(model + at, back, len);
        if (at + len > *size) *size = at + len;
        break;
    case 5: case 6: case 7: case 8: case 9:
        compare(at, len);
        break;
    case 10: {
        long to = next(4) ? at : *size / 2;
        if (ftruncate(f, to)) bad("ftruncate", to);
        if (to < *size) memset(model + to, 0, *size - to);
        *size = to;
        break;
    }
    case 11:
        if (close(f)) bad("close", 0);
        f = MUST(open("f", O_RDWR));
        break;
    case 12:
        if (next(4) == 0 && fsync(f)) bad("fsync", 0);
        if (next(4) == 0) posix_fadvise(f, 0, 0, POSIX_FADV_DONTNEED);
        if (lseek(f, 0, SEEK_END) != *size) bad("end", 0);
        break;
    case 13:
        if (next(8)) break;
        if (fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, len)) bad("punch", at);
        memset(model + at, 0, len);
        break;
    case 14: {
        if (next(8) || at >= *size) break;
        long from = at & ~4095L, n = at + len > *size ? *size - at : len;
        unsigned char *m = mmap(NULL, at - from + n, PROT_READ | PROT_WRITE, MAP_SHARED, f, from);
        if (m == MAP_FAILED) bad("mmap", from);
        if (memcmp(m + (at - from), model + at, n)) bad("mapping", at);
        memset(m + (at - from), next(256), n / 2);
        memcpy(model + at, m + (at - from), n);
        munmap(m, at - from + n);
        break;
    }
    case 15: {
        struct stat st;
        if (fstat(f, &st) || st.st_size != *size) bad("fstat", st.st_size);
        break;
    }
    }
}
int main(int argc, char **argv) {
    seed = atoi(argv[1]);
    int steps = atoi(argv[2]), processes = argc > 3 ? atoi(argv[3]) : 1;
    state = 88172645463325252ULL ^ ((unsigned long long)seed << 20);
    model = mmap(NULL, MOST + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size = (long *)(model + MOST);
    turn = size + 1;
    f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    int me = 0;
    for (int i = 1; i < processes && !me; i++)
        if (!MUST(fork())) me = i;
    if (me) {
        close(f);
        f = MUST(open("f", O_RDWR));
        state += me * 7777777;
    }
    volatile long *now = turn;
    for (step = 0; step < steps; step++) {
        while (*now % processes != me) {
            if (*now < 0) _exit(2);
            usleep(0);
        }
        one_step();
        __sync_fetch_and_add(now, 1);
    }
    if (me) _exit(0);
    int status, failed = 0;
    while (wait(&status) > 0) failed |= status;
    if (failed) return 1;
    compare(0, MOST);
    MUST(close(f));
    FILE *m = fopen("model", "w");
    if (fwrite(model, 1, *size, m) != *size || fclose(m)) return 3;
    puts("right to the end");
    return 0;
}
