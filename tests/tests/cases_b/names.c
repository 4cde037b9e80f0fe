/* One file by many names. */
#include "case.h"
static ino_t inode;
static void same(const char *how, int f) {
    if (f < 0) {
        printf("%s: %s\n", how, strerrorname_np(errno));
        return;
    }
    struct stat st;
    char b[8] = "";
    MUST(fstat(f, &st));
    MUST(read(f, b, 7));
    printf("%s: %d %s\n", how, st.st_ino == inode, b);
    close(f);
}
int main(void) {
    char cwd[4096], path[8300];
    if (!getcwd(cwd, sizeof cwd)) return 1;
    MUST(mkdir("d", 0755));
    MUST(symlink("d", "s"));
    MUST(symlink("loop", "loop"));
    int f = MUST(open("d/f", O_RDWR | O_CREAT, 0644));
    struct stat st;
    MUST(fstat(f, &st));
    inode = st.st_ino;
    SAY(write(f, "content", 7));
    snprintf(path, sizeof path, "%s/d/f", cwd);
    same("absolute", open(path, O_RDONLY));
    same("//", open("d//f", O_RDONLY));
    same("/./", open("d/./f", O_RDONLY));
    same("..", open("s/../d/f", O_RDONLY));
    same("symlinked directory", open("s/f", O_RDONLY));
    int d = MUST(open("d", O_RDONLY | O_DIRECTORY));
    same("openat", openat(d, "f", O_RDONLY));
    same("openat ..", openat(d, "../d/f", O_RDONLY));
    same("openat absolute", openat(-1, path, O_RDONLY));
    MUST(chdir("d"));
    same("after chdir", open("f", O_RDONLY));
    same("../d", open("../d/f", O_RDONLY));
    same("no such", open("d/f", O_RDONLY));
    MUST(chdir(".."));
    MUST(fchdir(d));
    same("after fchdir", open("f", O_RDONLY));
    MUST(chdir(cwd));
    same("loop", open("loop", O_RDONLY));
    /* 4095 characters are a path, one more is not. */
    memset(path, '/', sizeof path);
    path[0] = 'd';
    strcpy(path + 4095 - 1, "f");
    same("4095", open(path, O_RDONLY));
    path[4094] = '/';
    strcpy(path + 4096 - 1, "f");
    same("4096", open(path, O_RDONLY));
    MUST(mkdir("gone", 0755));
    MUST(chdir("gone"));
    MUST(rmdir("../gone"));
    same("deleted directory", open("f", O_RDWR | O_CREAT, 0644));
    same("below a file", open("../d/f/g", O_RDONLY));
    return 0;
}
