/* Room that is set aside changes the size, or does not, for everybody alike. */
#include "case.h"
static void sizes(int f, const char *name) {
    struct stat st;
    MUST(fstat(f, &st));
    printf("here %lld\n", (long long)st.st_size);
    fflush(stdout);
    char line[64];
    snprintf(line, sizeof line, "stat -c 'there %%s' %s; wc -c < %s", name, name);
    if (system(line)) puts("stat failed");
}
int main(void) {
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    MUST(write(f, "abc", 3));
    sizes(f, "f");
    SAY(fallocate(f, FALLOC_FL_KEEP_SIZE, 0, 100000));
    sizes(f, "f");
    printf("posix_fallocate %d\n", posix_fallocate(f, 0, 8192));
    sizes(f, "f");
    char back[8192];
    SAY(pread(f, back, sizeof back, 0));
    HOLDS(!memcmp(back, "abc", 3) && all(back + 3, 0, 8189));
    SAY(write(f, "def", 3));
    SAY(fallocate(f, 0, 0, 200000));
    sizes(f, "f");
    SAY(fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1, 4));
    SAY(pread(f, back, 6, 0));
    HOLDS(!memcmp(back, "a\0\0\0\0f", 6));
    SAY(fallocate(f, 0, 0, 0));
    SAY(fallocate(f, 0, -1, 10));
    int r = MUST(open("f", O_RDONLY));
    SAY(fallocate(r, 0, 0, 300000));
    sizes(f, "f");
    return 0;
}
