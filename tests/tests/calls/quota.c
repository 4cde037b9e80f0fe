/* Writes more than is let through, and says whether it was told, and how much was taken. */
#include "case.h"

int main(int argc, char **argv)
{
    static char block[4096];
    int error = 0;
    long taken = 0;
    memset(block, 'q', sizeof block);
    int f = open("f", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 20 && !error; i++) {
        long n = write(f, block, sizeof block);
        if (n < 0)
            error = errno;
        else
            taken += n;
    }
    if (!strcmp(argv[1], "fsync") && fsync(f) < 0 && !error)
        error = errno;
    if (close(f) < 0 && !error)
        error = errno;
    printf("%s\n", error == EDQUOT ? "told of the quota" : error ? strerror(error) : "told of nothing");
    FILE *out = fopen("taken", "w");
    fprintf(out, "%ld\n", taken);
    return fclose(out);
}
