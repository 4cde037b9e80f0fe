/* Every way to ask which descriptors are open, before and after a file of the store has been written. */
#include "case.h"
#include <dirent.h>
#include <sys/syscall.h>

#define LIMIT 1100

static int listed(const char *path, char *seen) {
    DIR *dir = opendir(path);
    CHECK(dir);
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir)) {
            seen[atoi(entry->d_name)] = 1;
            count++;
        }
    closedir(dir);
    return count;
}

/* With room for one entry at a time: none that is left out may end the listing early. */
static int listed_raw(char *seen) {
    int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY), count = 0;
    CHECK(fd >= 0);
    char buf[32];
    long n;
    while ((n = syscall(SYS_getdents64, fd, buf, sizeof buf)) > 0)
        for (long at = 0; at < n; at += *(unsigned short *)(buf + at + 16)) {
            const char *name = buf + at + 19;
            if (name[0] != '.' && atoi(name) != fd) {
                seen[atoi(name)] = 1;
                count++;
            }
        }
    SAME(n, 0);
    close(fd);
    return count;
}

static void ask_all(const char *when) {
    struct stat st;
    struct statx stx;
    char by_listing[LIMIT] = {0}, by_raw[LIMIT] = {0}, by_dev[LIMIT] = {0};
    int open_files = listed("/proc/self/fd", by_listing);
    SAME(listed("/dev/fd", by_dev), open_files);
    SAME(listed_raw(by_raw), open_files);
    printf("%s:", when);
    for (int fd = 0; fd < LIMIT; fd++) {
        int is_open = fcntl(fd, F_GETFD) >= 0;
        SAME(is_open || errno == EBADF, 1);
        SAME(fcntl(fd, F_GETFL) >= 0, is_open);
        SAME(fstat(fd, &st) == 0, is_open);
        SAME(fstatat(fd, "", &st, AT_EMPTY_PATH) == 0, is_open);
        SAME(statx(fd, "", AT_EMPTY_PATH, STATX_MODE, &stx) == 0, is_open);
        SAME(syscall(SYS_fstat, fd, &st) == 0, is_open);
        SAME(syscall(SYS_fcntl, fd, F_GETFD) >= 0, is_open);
        int copy = dup(fd);
        SAME(copy >= 0, is_open);
        SAME(is_open || errno == EBADF, 1);
        if (is_open)
            close(copy);
        copy = fcntl(fd, F_DUPFD, 3);
        SAME(copy >= 0, is_open);
        if (is_open)
            close(copy);
        else
            SAME(dup2(fd, fd == LIMIT - 1 ? 99 : LIMIT - 1), -1);
        SAME(by_listing[fd], is_open);
        SAME(by_raw[fd], is_open);
        SAME(by_dev[fd], is_open);
        if (is_open)
            printf(" %d", fd);
    }
    printf("\n");
    fflush(stdout);
}

int main(void) {
    ask_all("before");
    int fd = open("file", O_RDWR | O_CREAT, 0666);
    SAME(write(fd, "bytes", 5), 5);
    ask_all("file open");
    pid_t child = fork();
    if (child == 0) {
        SAME(write(fd, "more", 4), 4);
        ask_all("in a child");
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    SAME(status, 0);
    close(fd);
    ask_all("after");
    return 0;
}
