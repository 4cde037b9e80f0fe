/* The same writes, seeks and reads, built with 32-bit and 64-bit names of the calls. */
#include "case.h"
#include <sys/sendfile.h>

int main(int argc, char **argv)
{
    const char *name = argv[1];
    int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0640);
    CHECK(f >= 0);
    SAME(write(f, "0123456789", 10), 10);
    SAME(lseek(f, 4, SEEK_SET), 4);
    SAME(write(f, "four", 4), 4);
    SAME(pwrite(f, "end", 3, 5000), 3);
    struct iovec out[2] = {{"ab", 2}, {"cd", 2}};
    SAME(pwritev(f, out, 2, 6000), 4);
    SAME(pwritev2(f, out, 1, 7000, 0), 2);
    struct stat seen;
    SAME(fstat(f, &seen), 0);
    SAME(seen.st_size, 7002);
    SAME(stat(name, &seen), 0);
    SAME(seen.st_size, 7002);
    SAME(fstatat(AT_FDCWD, name, &seen, 0), 0);
    SAME(seen.st_size, 7002);
    SAME(ftruncate(f, 6003), 0);
    SAME(truncate(name, 6002), 0);
    SAME(lseek(f, 0, SEEK_END), 6002);
    SAME(posix_fallocate(f, 6000, 100), 0);
    SAME(posix_fadvise(f, 0, 0, POSIX_FADV_DONTNEED), 0);
    char bytes[16] = {0};
    struct iovec in[2] = {{bytes, 1}, {bytes + 1, 2}};
    SAME(preadv(f, in, 2, 5000), 3);
    CHECK(memcmp(bytes, "end", 3) == 0);
    SAME(preadv2(f, in, 2, 4, 0), 3);
    CHECK(memcmp(bytes, "fou", 3) == 0);
    BYTES_AT(f, 0, "0123four89");
    BYTES_AT(f, 6000, "ab");
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    SAME(fcntl(f, F_SETLK, &lock), 0);
    SAME(fcntl(f, F_GETFL) & O_ACCMODE, O_RDWR);
    int again = openat(AT_FDCWD, name, O_RDONLY);
    SAME(lseek(again, 6000, SEEK_SET), 6000);
    SAME(read(again, bytes, 2), 2);
    CHECK(memcmp(bytes, "ab", 2) == 0);
    off_t at = 4;
    char copied[64];
    snprintf(copied, sizeof copied, "%s.copy", name);
    int copy = creat(copied, 0600);
    SAME(sendfile(copy, again, &at, 4), 4);
    SAME(at, 8);
    FILE *stream = fopen(name, "r+");
    SAME(fseeko(stream, 4, SEEK_SET), 0);
    SAME(fgetc(stream), 'f');
    SAME(ftello(stream), 5);
    SAME(fclose(stream), 0);
    return 0;
}
