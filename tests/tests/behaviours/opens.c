/* Opening, linking and naming: every flag with every kind of file, handles, nameless files, how paths may be walked. */
#include "matrix.h"
#include <linux/openat2.h>

static void look(int fd) {
    if (fd < 0) return;
    char b[32];
    R(fcntl(fd, F_GETFL));
    R(fcntl(fd, F_GETFD));
    R(write(fd, "words", 5));
    R(read(fd, b, 3));
    R(lseek(fd, 0, SEEK_CUR));
    R(lseek(fd, 0, SEEK_END));
    struct stat st;
    R(fstat(fd, &st));
    line("   mode %o links %d size %lld", st.st_mode, (int)st.st_nlink, S_ISREG(st.st_mode) ? (long long)st.st_size : 0);
    close(fd);
}

static void reset(void) {
    settled("file", 1000);
    settled("other", 10);
    unlink("new");
    unlink("hard");
    unlink("soft");
    unlink("dangling");
    unlink("loop");
    unlink("fifo");
    unlink("moved");
    rmdir("dir/sub");
    DIR *inside = opendir("dir");
    for (struct dirent *entry; inside && (entry = readdir(inside));) unlinkat(dirfd(inside), entry->d_name, 0);
    if (inside) closedir(inside);
    rmdir("dir");
    NEED(symlink("file", "soft"));
    NEED(symlink("missing", "dangling"));
    NEED(symlink("loop", "loop"));
    NEED(mkfifo("fifo", 0644));
    NEED(mkdir("dir", 0755));
    settled("dir/in", 77);
    chmod("other", 0444);
}

int main(void) {
    umask(022);
    NEED(mkdir("top", 0755));
    NEED(chdir("top"));
    const char *names[] = {"file", "new", "soft", "dangling", "loop", "dir", "dir/in", "file/x", "", "dir/", "file/", "new/", "dir/../file", "dir//in", "./file", "fifo",
                           "/proc/self/exe", "/dev/null", "missing/x", "other"};
    const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, 3, O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL, O_WRONLY | O_TRUNC, O_RDONLY | O_TRUNC, O_RDWR | O_APPEND | O_TRUNC,
                         O_RDONLY | O_DIRECTORY, O_RDWR | O_NOFOLLOW, O_PATH, O_PATH | O_NOFOLLOW, O_RDWR | O_NOATIME, O_RDWR | O_CLOEXEC, O_RDWR | O_SYNC,
                         O_RDWR | O_DSYNC, O_RDWR | O_NONBLOCK, O_RDONLY | O_CREAT | O_DIRECTORY, O_TMPFILE | O_RDWR, O_TMPFILE | O_RDONLY, O_TMPFILE | O_WRONLY | O_EXCL,
                         O_RDWR | O_CREAT | O_TRUNC | O_EXCL, O_RDWR | O_LARGEFILE, O_RDWR | 0x40000000, -1, O_WRONLY | O_APPEND | O_CREAT, O_RDWR | O_ASYNC, O_PATH | O_RDWR | O_TRUNC,
                         O_RDONLY | O_CREAT};
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++)
        for (unsigned f = 0; f < sizeof flags / sizeof *flags; f++)
            for (int how = 0; how < 3; how++) {
                /* An end of a pipe that waits for the other one. */
                if (!strcmp(names[n], "fifo") && !(flags[f] & (O_NONBLOCK | O_PATH)) && (flags[f] & O_ACCMODE) != O_RDWR) continue;
                if (left_out()) continue;
                reset();
                /* Bytes that wait while the file is opened once more. */
                int waiting = NEED(open("file", O_RDWR));
                NEED(pwrite(waiting, "head", 4, 0));
                NEED(pwrite(waiting, "waits", 5, 1500));
                LABEL("%s %x", names[n], flags[f]);
                int fd;
                if (how == 0) fd = R(open(names[n], flags[f], 0666) < 0 ? -1 : 0) ? -1 : open(names[n], flags[f] & ~O_EXCL, 0666);
                else if (how == 1) fd = R(syscall(SYS_open, names[n], flags[f], 0640) < 0 ? -1 : 0) ? -1 : open(names[n], flags[f] & ~O_EXCL, 0666);
                else {
                    int dir = NEED(open("dir", O_RDONLY | O_DIRECTORY));
                    fd = openat(dir, names[n], flags[f], 0600);
                    line("%s openat %s", label_, fd < 0 ? named(errno) : "done");
                    close(dir);
                }
                look(fd);
                state(waiting);
                close(waiting);
                for (int c = 3; c < 20; c++) close(c);
            }
    LABEL("misnamed");
    reset();
    int dir = NEED(open("dir", O_RDONLY)), fd = NEED(open("file", O_RDWR));
    R(openat(fd, "x", O_RDONLY));
    R(openat(-1, "x", O_RDONLY));
    R(openat(100000, "file", O_RDONLY));
    R(close(openat(-1, "/dev/null", O_RDONLY)));
    char name[5000];
    memset(name, 'n', sizeof name);
    name[255] = 0;
    R(close(open(name, O_CREAT | O_RDWR, 0644)));
    R(unlink(name));
    name[255] = 'n';
    name[256] = 0;
    R(open(name, O_CREAT | O_RDWR, 0644));
    name[256] = 'n';
    name[4999] = 0;
    R(open(name, O_CREAT | O_RDWR, 0644));
    R(creat("dir", 0644));
    R(creat("missing/x", 0644));
    /* Nameless files that get a name. */
    LABEL("nameless");
    int nameless = open("dir", O_TMPFILE | O_RDWR, 0600);
    R(write(nameless, "no name yet", 11));
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", nameless);
    R(linkat(AT_FDCWD, self, AT_FDCWD, "new", AT_SYMLINK_FOLLOW));
    R(write(nameless, " and one", 8));
    int other = open("new", O_RDWR);
    state(other);
    R(pwrite(other, "NO", 2, 0));
    state(nameless);
    R(linkat(nameless, "", AT_FDCWD, "hard", AT_EMPTY_PATH));
    struct stat st;
    R(fstat(nameless, &st));
    R(st.st_nlink);
    close(nameless);
    close(other);
    nameless = open("dir", O_TMPFILE | O_RDWR | O_EXCL, 0600);
    R(write(nameless, "never a name", 12));
    snprintf(self, sizeof self, "/proc/self/fd/%d", nameless);
    R(linkat(AT_FDCWD, self, AT_FDCWD, "moved", AT_SYMLINK_FOLLOW));
    /* By its descriptor's path again. */
    int again = open(self, O_RDWR);
    R(again < 0 ? -1 : 0);
    R(read(again, name, 5));
    R(pwrite(again, "NEVER", 5, 0));
    state(nameless);
    close(again);
    again = open(self, O_RDWR | O_TRUNC);
    state(nameless);
    R(write(again, "cut", 3));
    state(nameless);
    close(again);
    close(nameless);
    /* How a path may be walked. */
    LABEL("openat2");
    const uint64_t walks[] = {0, RESOLVE_BENEATH, RESOLVE_IN_ROOT, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_XDEV, RESOLVE_CACHED, 0x8000, RESOLVE_BENEATH | RESOLVE_IN_ROOT};
    const char *paths[] = {"file", "soft", "../file", "dir/../file", "dir/../../file", "/no such/file", "dangling", "loop", "missing"};
    for (unsigned w = 0; w < sizeof walks / sizeof *walks; w++)
        for (unsigned p = 0; p < sizeof paths / sizeof *paths; p++)
            for (int f = 0; f < 5; f++) {
                /* What is cached is the kernel's own affair. */
                if (walks[w] == RESOLVE_CACHED) continue;
                struct open_how how = {.flags = (int[]){O_RDONLY, O_RDWR, O_RDWR | O_TRUNC, O_RDWR | O_CREAT, O_PATH}[f], .mode = f == 3 ? 0644 : 0, .resolve = walks[w]};
                LABEL("openat2 %s walk %llx flags %d", paths[p], (long long)walks[w], f);
                other = syscall(SYS_openat2, AT_FDCWD, paths[p], &how, sizeof how);
                line("%s %s", label_, other < 0 ? named(errno) : "done");
                look(other);
                state(fd);
                pwrite(fd, "back again", 10, 300 + f);
            }
    struct open_how how = {.flags = O_RDONLY, .mode = 0644};
    R(syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how));
    how = (struct open_how){.flags = O_RDWR | 0x100000000ul};
    R(syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how));
    how = (struct open_how){.flags = O_RDWR};
    R(syscall(SYS_openat2, AT_FDCWD, "file", &how, 0));
    R(syscall(SYS_openat2, AT_FDCWD, "file", &how, 8));
    R(syscall(SYS_openat2, AT_FDCWD, "file", &how, 100000));
    R(syscall(SYS_openat2, AT_FDCWD, "file", 0, sizeof how));
    R(syscall(SYS_openat2, AT_FDCWD, "file", 1, sizeof how));
    R(syscall(SYS_openat2, AT_FDCWD, 0, &how, sizeof how));
    /* Handles. */
    LABEL("handle");
    struct { struct file_handle head; unsigned char room[128]; } handle = {.head.handle_bytes = 128};
    int mount;
    R(name_to_handle_at(AT_FDCWD, "file", &handle.head, &mount, 0));
    int root = NEED(open(".", O_RDONLY));
    R(pwrite(fd, "by handle", 9, 20));
    other = open_by_handle_at(root, &handle.head, O_RDWR);
    line("%s %s", label_, other < 0 ? named(errno) : "done");
    if (other >= 0) {
        state(other);
        R(pwrite(other, "handled", 7, 40));
        state(fd);
        close(other);
    }
    handle.head.handle_bytes = 1;
    R(name_to_handle_at(AT_FDCWD, "file", &handle.head, &mount, 0));
    R(name_to_handle_at(AT_FDCWD, "missing", &handle.head, &mount, 0));
    R(open_by_handle_at(fd, &handle.head, O_RDWR));
    R(open_by_handle_at(root, &(struct file_handle){.handle_bytes = 0}, O_RDWR));
    /* Names of open files. */
    LABEL("names");
    R(pwrite(fd, "named", 5, 100));
    R(link("file", "hard"));
    R(link("file", "hard"));
    R(link("missing", "x"));
    R(link("dir", "x"));
    R(rename("file", "moved"));
    R(rename("moved", "dir"));
    R(rename("dir", "moved"));
    R(rename("moved", "hard"));
    R(rename("missing", "x"));
    R(rename("dir", "dir/sub"));
    R(renameat2(AT_FDCWD, "moved", AT_FDCWD, "other", RENAME_NOREPLACE));
    R(renameat2(AT_FDCWD, "moved", AT_FDCWD, "other", RENAME_EXCHANGE));
    R(renameat2(AT_FDCWD, "moved", AT_FDCWD, "missing", RENAME_EXCHANGE));
    R(renameat2(AT_FDCWD, "moved", AT_FDCWD, "other", 0x80));
    state(fd);
    R(rename("moved", "other"));
    state(fd);
    R(unlink("dir"));
    R(unlink("missing"));
    R(rmdir("file"));
    R(rmdir("other"));
    R(remove("other"));
    R(pwrite(fd, "gone", 4, 0));
    R(unlink("hard"));
    R(fstat(fd, &st));
    R(st.st_nlink);
    state(fd);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    other = open(self, O_RDONLY);
    state(other);
    R(truncate(self, 50));
    state(fd);
    R(linkat(fd, "", AT_FDCWD, "x", AT_EMPTY_PATH));
    R(unlinkat(dir, "in", AT_REMOVEDIR));
    R(unlinkat(dir, "in", 0));
    R(unlinkat(AT_FDCWD, "dir", AT_REMOVEDIR));
    R(openat(dir, "late", O_CREAT | O_RDWR, 0644));
    /* Templates. */
    LABEL("templates");
    char t[64];
    strcpy(t, "abcXXXXXX");
    other = mkstemp(t);
    R(other < 0 ? -1 : 0);
    R(write(other, "temporary", 9));
    state(other);
    R(fcntl(other, F_GETFL));
    R(unlink(t));
    strcpy(t, "abcXXXXX");
    R(mkstemp(t));
    strcpy(t, "abcXXXXXX.suf");
    other = mkostemps(t, 4, O_APPEND | O_CLOEXEC);
    R(fcntl(other, F_GETFL));
    R(fcntl(other, F_GETFD));
    R(unlink(t));
    strcpy(t, "abcXXXXXX.suf");
    R(mkstemps(t, 20));
    strcpy(t, "missing/XXXXXX");
    R(mkstemp(t));
    FILE *stream = tmpfile();
    R(fprintf(stream, "some %d", 5));
    rewind(stream);
    R(fgetc(stream));
    R(fclose(stream));
    return 0;
}
