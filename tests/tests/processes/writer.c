/* Appends a line to a file. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = argc == 3 ? open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
    if (fd < 0)
        return 1;
    size_t n = strlen(argv[2]);
    return write(fd, argv[2], n) != (ssize_t)n || write(fd, "\n", 1) != 1 || close(fd) != 0;
}
