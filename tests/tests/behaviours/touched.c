/* Times of access: the first read of a descriptor sets them, as far as the mount does; who asks for none changes none. */
#include "matrix.h"

static void look(const char *what) {
    struct stat st;
    NEED(stat("file", &st));
    line("%s: %s", what, st.st_atime > 1500000000 ? "now" : "then");
}

static int old(int flags) {
    settled("file", 5000);
    int fd = NEED(open("file", O_RDWR));
    char bytes[100];
    NEED(read(fd, bytes, 100));
    close(fd);
    NEED(utimensat(AT_FDCWD, "file", (struct timespec[]){{1000, 0}, {2000, 0}}, 0));
    return NEED(open("file", flags));
}

int main(void) {
    char bytes[100];
    struct iovec iov = {bytes, 100};
    for (int how = 0; how < 7; how++) {
        int fd = old(O_RDONLY);
        LABEL("how %d", how);
        look("before");
        switch (how) {
        case 0: R(read(fd, bytes, 100)); break;
        case 1: R(pread(fd, bytes, 100, 50)); break;
        case 2: R(readv(fd, &iov, 1)); break;
        case 3: R(read(fd, bytes, 0)); break;
        case 4: R(pread(fd, bytes, 100, 50000)); break;
        case 5: R(lseek(fd, 10, SEEK_SET)); break;
        case 6: R(syscall(SYS_pread64, fd, bytes, 100, 0)); break;
        }
        look("after");
        close(fd);
        look("closed");
    }
    int fd = old(O_RDONLY | O_NOATIME);
    R(read(fd, bytes, 100));
    look("unasked");
    close(fd);
    fd = old(O_WRONLY);
    R(write(fd, bytes, 100));
    look("written");
    close(fd);
    return 0;
}
