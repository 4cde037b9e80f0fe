/* lseek: every base with every distance, from every place, through libc and by number. */
#include "matrix.h"

#define SIZE 10000

int main(void) {
    const off_t distances[] = {0, 1, -1, 5000, -5000, SIZE, -SIZE, -SIZE - 1, 1l << 31, 1l << 32, 1l << 42, (1l << 42) - 1, (1l << 44) - 4096, 1l << 44,
                               (1l << 44) + 1, 1l << 52, INT64_MAX, INT64_MAX - SIZE, INT64_MIN, INT64_MIN + SIZE, INT64_MAX - 4096};
    const off_t starts[] = {0, 5000, SIZE, 1l << 40};
    const int bases[] = {SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 5, -1, 100};
    int modes[] = {O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_APPEND};
    for (int m = 0; m < 4; m++)
        for (unsigned s = 0; s < sizeof starts / sizeof *starts; s++)
            for (unsigned b = 0; b < sizeof bases / sizeof *bases; b++)
                for (unsigned d = 0; d < sizeof distances / sizeof *distances; d++)
                    for (int raw = 0; raw < 2; raw++) {
                        if (left_out()) continue;
                        int fd = dirty("file", SIZE, modes[m]);
                        lseek(fd, starts[s], SEEK_SET);
                        LABEL("mode %d from %llx base %d by %llx", m, (long long)starts[s], bases[b], (long long)distances[d]);
                        if (raw) R(syscall(SYS_lseek, fd, distances[d], (long)bases[b]));
                        else R(lseek(fd, distances[d], bases[b]));
                        R(lseek(fd, 0, SEEK_CUR));
                        char bytes[10] = "0123456789";
                        if (m != 2) R(read(fd, bytes, 10));
                        off_t here = lseek(fd, 0, SEEK_CUR);
                        if (m == 0 && (here < 1 << 20 || here > INT64_MAX - 100)) R(write(fd, bytes, 10));
                        R(lseek(fd, 0, SEEK_CUR));
                        close(fd);
                    }
    /* The largest file: its limit is the file system's to name. */
    int fd = dirty("file", SIZE, O_RDWR);
    char byte = 'x';
    for (off_t far = 1l << 40; far > 0 && far < INT64_MAX / 2; far <<= 1)
        for (int less = 0; less < 3; less++) {
            off_t at = far - (off_t[]){0, 1, 4096}[less];
            LABEL("far %llx", (long long)at);
            R(pwrite(fd, &byte, 1, at));
            R(pread(fd, &byte, 1, at));
            R(ftruncate(fd, SIZE));
            R(lseek(fd, at, SEEK_SET));
            R(write(fd, &byte, 1));
            R(read(fd, &byte, 1));
            R(lseek(fd, 0, SEEK_CUR));
            R(ftruncate(fd, SIZE));
            R(pwrite(fd, &byte, 0, at));
        }
    state(fd);
    close(fd);
    /* Holes between what is settled and what is not. */
    settled("file", 4096);
    fd = NEED(open("file", O_RDWR));
    static char block[8192];
    memset(block, 'b', sizeof block);
    pwrite(fd, block, 8192, 65536);
    pwrite(fd, block, 8192, 1 << 20);
    for (int base = SEEK_DATA; base <= SEEK_HOLE; base++)
        for (off_t at = 0; at < (1 << 20) + 16384; at += 4096 + 1000) {
            LABEL("hole %d %lld", base, (long long)at);
            R(lseek(fd, at, base));
        }
    close(fd);
    return 0;
}
