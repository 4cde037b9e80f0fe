#include "case.h"
#include <sys/swap.h>

int main(void) {
    static char page[4096];
    long size = 64;
    int fd = open("swapfile", O_CREAT | O_RDWR | O_TRUNC, 0600);
    CHECK(fd >= 0);
    for (long i = 0; i < size; i++)
        SAME(write(fd, page, sizeof page), (long long)sizeof page);
    SAME(fsync(fd), 0);
    uint32_t version = 1, last = size - 1;
    memcpy(page + 1024, &version, 4);
    memcpy(page + 1028, &last, 4);
    memcpy(page + sizeof page - 10, "SWAPSPACE2", 10);
    SAME(pwrite(fd, page, sizeof page, 0), (long long)sizeof page);
    SAME(pwrite(fd, page, 1, 8192), 1);
    /* With privilege and on a file system that can, it works; else the answer is the kernel's. */
    int on = swapon("swapfile", 0);
    printf("%d %d\n", on, on ? errno : 0);
    if (on == 0)
        SAME(swapoff("swapfile"), 0);
    return 0;
}
