/* A file by its descriptor's name in /proc. */
#include "case.h"
int main(void) {
    char name[64], path[4200], cwd[4096], back[8] = "";
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    MUST(pwrite(f, "old text", 8, 0));
    MUST(lseek(f, 5, SEEK_SET));
    MUST(pwrite(f, "NEW", 3, 0));
    snprintf(name, sizeof name, "/proc/self/fd/%d", f);
    int g = MUST(open(name, O_RDWR));
    SAY(read(g, back, 3));
    printf("  %s\n", back);
    SAY(lseek(f, 0, SEEK_CUR));
    SAY(lseek(g, 0, SEEK_CUR));
    SAY(write(g, "+", 1));
    SAY(pread(f, back, 5, 0));
    printf("  %.5s\n", back);
    if (!getcwd(cwd, sizeof cwd)) return 1;
    ssize_t n = MUST(readlink(name, path, sizeof path - 1));
    path[n] = 0;
    HOLDS(!strncmp(path, cwd, strlen(cwd)) && !strcmp(path + strlen(cwd), "/f"));
    MUST(unlink("f"));
    n = MUST(readlink(name, path, sizeof path - 1));
    path[n] = 0;
    HOLDS(!strcmp(path + strlen(cwd), "/f (deleted)"));
    int h = MUST(open(name, O_RDWR));
    SAY(pread(h, back, 5, 0));
    SAY(pwrite(h, "deleted", 7, 0));
    SAY(pread(f, back, 7, 0));
    printf("  %.7s\n", back);
    SAY(linkat(AT_FDCWD, name, AT_FDCWD, "back", AT_SYMLINK_FOLLOW));
    return 0;
}
