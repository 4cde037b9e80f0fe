/* Which number does the first open give when standard streams are closed? */
#include "case.h"

int main(int argc, char **argv)
{
    int wanted = atoi(argv[1]);
    char bytes[16];
    for (int fd = 0; fd < 3; fd++) {
        int closed = argv[2][fd] == '-';
        SAME(fcntl(fd, F_GETFD) == -1, closed);
        if (closed) {
            SAME(fd == 0 ? read(fd, bytes, 1) : write(fd, bytes, 1), -1);
            SAME(errno, EBADF);
        }
    }
    int f = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0644);
    int number = f;
    char text[32];
    int length = snprintf(text, sizeof text, "fd %d\n", number);
    SAME(write(f, text, length), length);
    SAME(close(f), 0);
    f = open(argv[3], O_RDONLY);
    SAME(f, number);
    SAME(read(f, bytes, sizeof bytes), length);
    CHECK(memcmp(bytes, text, length) == 0);
    if (argv[2][0] == 'o')
        SAME(read(0, bytes, 5), 5);
    return number == wanted ? 0 : 3;
}
