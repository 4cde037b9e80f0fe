/* A program that closes every descriptor from 3 up gets its own numbers afterwards, and only its own bytes. */
#include "case.h"
#include <dirent.h>
#include <sys/syscall.h>

static void close_all(const char *how)
{
    if (strcmp(how, "range") == 0) {
        SAME(close_range(3, ~0U, 0), 0);
    } else if (strcmp(how, "raw") == 0) {
        SAME(syscall(SYS_close_range, 3, ~0U, 0), 0);
    } else if (strcmp(how, "from") == 0) {
        closefrom(3);
    } else if (strcmp(how, "loop") == 0) {
        for (int fd = 3; fd < 4096; fd++)
            close(fd);
    } else {
        /* As listed in /proc: everything that can be seen is closed. */
        int seen[256], count = 0;
        DIR *dir = opendir("/proc/self/fd");
        CHECK(dir != NULL);
        for (struct dirent *entry; (entry = readdir(dir)) != NULL && count < 256;)
            if (atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(dir))
                seen[count++] = atoi(entry->d_name);
        closedir(dir);
        while (count > 0)
            close(seen[--count]);
    }
}

static void write_and_read(const char *name)
{
    int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(f, 3);
    SAME(write(f, "data", 4), 4);
    SAME(close(f), 0);
    f = open(name, O_RDONLY);
    SAME(f, 3);
    char bytes[16] = {0};
    SAME(read(f, bytes, sizeof bytes), 4);
    CHECK(memcmp(bytes, "data", 4) == 0);
    SAME(close(f), 0);
}

int main(int argc, char **argv)
{
    char name[64];
    int before = open("before", O_RDWR | O_CREAT, 0644);
    SAME(write(before, "open", 4), 4);
    close_all(argv[1]);
    SAME(write(before, "late", 4), -1);
    SAME(errno, EBADF);
    write_and_read(argv[1]);
    pid_t child = fork();
    if (child == 0) {
        close_all(argv[1]);
        snprintf(name, sizeof name, "%s.child", argv[1]);
        write_and_read(name);
        execl("/bin/sh", "sh", "-c", "cp \"$0\" \"$0.copy\"; printf more >> \"$0.copy\"", name, (char *)NULL);
        _exit(127);
    }
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    snprintf(name, sizeof name, "%s.after", argv[1]);
    write_and_read(name);
    return 0;
}
