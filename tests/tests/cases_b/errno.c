/* The error number is what it was after calls that succeed. */
#include "case.h"
int main(void) {
    char b[16];
    struct stat st;
#define KEEPS(call) (errno = 77, (void)!(call), printf("%s keeps errno: %d\n", #call, errno == 77))
    int f;
    KEEPS((f = open("f", O_RDWR | O_CREAT, 0644)) < 0);
    KEEPS(write(f, "0123456789", 10));
    KEEPS(pread(f, b, 5, 0));
    KEEPS(pread(f, b, 16, 0));
    KEEPS(lseek(f, 0, SEEK_SET));
    KEEPS(read(f, b, 16));
    KEEPS(read(f, b, 16));
    KEEPS(fstat(f, &st));
    KEEPS(stat("f", &st));
    KEEPS(fsync(f));
    KEEPS(ftruncate(f, 5));
    KEEPS(dup2(f, 40));
    KEEPS(close(40));
    KEEPS(rename("f", "g"));
    KEEPS(fcntl(f, F_GETFL));
    KEEPS(fork() || (_exit(0), 0));
    KEEPS(close(f));
    FILE *s = fopen("g", "a+");
    fputs("more", s);
    KEEPS(fflush(s));
    SAY(fclose(s));
    SAY(fclose(stdin));
    SAY(fclose(stderr));
    return fclose(stdout);
}
