/* The lowest free number, and as many files as the limit allows: with a file of the store open, as without. */
#include "case.h"
#include <sys/resource.h>

int main(void) {
    struct rlimit limit;
    for (int soft = 20; soft <= 1100; soft += 360) {
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = soft;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        pid_t child = fork();
        if (child == 0) {
            int first = open("first", O_RDWR | O_CREAT, 0666);
            SAME(write(first, "bytes", 5), 5);
            int second = open("second", O_WRONLY | O_CREAT, 0666), fd, count = 2;
            SAME(write(second, "more", 4), 4);
            while ((fd = open("second", O_WRONLY | O_APPEND)) >= 0) {
                SAME(write(fd, "end", 3), 3);
                count++;
            }
            SAME(errno, EMFILE);
            BYTES_AT(first, 0, "bytes");
            SAME(fsync(second), 0);
            struct rlimit after;
            getrlimit(RLIMIT_NOFILE, &after);
            SAME(after.rlim_cur, soft);
            SAME(after.rlim_max, limit.rlim_max);
            printf("%d: %d %d, %d in all\n", soft, first, second, count);
            fflush(stdout);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        SAME(status, 0);
    }
    return 0;
}
