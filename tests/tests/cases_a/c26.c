/* Reads or writes as told by its arguments; built dynamic and static. */
#include "case.h"

int main(int argc, char **argv)
{
    char bytes[4096];
    int f = -1, n;
    if (strcmp(argv[1], "write") == 0)
        f = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    else if (strcmp(argv[1], "append") == 0)
        f = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
    else if (strcmp(argv[1], "patch") == 0)
        f = open(argv[2], O_WRONLY);
    if (f >= 0) {
        SAME(write(f, argv[3], strlen(argv[3])), strlen(argv[3]));
        return close(f);
    }
    f = open(argv[2], O_RDONLY);
    while ((n = read(f, bytes, sizeof bytes)) > 0)
        SAME(write(1, bytes, n), n);
    return close(f);
}
