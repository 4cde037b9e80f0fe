/* Requests by ioctl that look at a file's size, offset, extents or bytes while some of them wait. */
#include "case.h"
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

int main(void)
{
    static char block[8192];
    memset(block, 'b', sizeof block);
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644), g = open("g", O_RDWR | O_CREAT | O_TRUNC, 0644), left = -1;
    SAME(write(f, "0123456789", 10), 10);
    SAME(write(f, "0123456789", 10), 10);
    SAME(lseek(f, 5, SEEK_SET), 5);
    if (ioctl(f, FIONREAD, &left) == 0)
        SAME(left, 15);
    SAME(lseek(f, 0, SEEK_CUR), 5);
    /* Not a terminal, and no less dirty. */
    SAME(isatty(f), 0);
    SAME(errno, ENOTTY);
    SAME(ioctl(f, 0xdead, 0), -1);
    SAME(errno, ENOTTY);
    int yes = 1;
    SAME(ioctl(f, FIONBIO, &yes), 0);
    SAME(fcntl(f, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    yes = 0;
    SAME(ioctl(f, FIONBIO, &yes), 0);
    SAME(ioctl(f, FIOCLEX), 0);
    SAME(fcntl(f, F_GETFD), FD_CLOEXEC);
    /* Extents of bytes that were just written. */
    SAME(pwrite(f, block, sizeof block, 4096), sizeof block);
    struct fiemap map = {.fm_length = ~0ULL, .fm_flags = FIEMAP_FLAG_SYNC};
    if (ioctl(f, FS_IOC_FIEMAP, &map) == 0)
        CHECK(map.fm_mapped_extents > 0);
    /* Space by an old request, counted from the offset. */
    struct space_resv {
        short type, whence;
        long long start, len;
        int sysid;
        unsigned pid;
        int pad[4];
    } space = {.whence = SEEK_CUR, .start = 100, .len = 100000};
    struct stat st;
    if (ioctl(f, _IOW('X', 42, struct space_resv), &space) == 0) {
        SAME(fstat(f, &st), 0);
        SAME(st.st_size, 4096 + sizeof block);
    }
    /* A clone, where the file system can, from a dirty file and into one. */
    struct file_clone_range range = {.src_fd = f};
    SAME(pwrite(g, "target", 6, 0), 6);
    int cloned = ioctl(g, FICLONERANGE, &range);
    if (cloned == 0) {
        BYTES_AT(g, 0, "01234567890123456789");
        SAME(ioctl(g, FICLONE, f), 0);
        BYTES_AT(g, 0, "01234567890123456789");
    } else {
        CHECK(errno == EOPNOTSUPP || errno == EINVAL || errno == EXDEV || errno == ENOTTY);
        BYTES_AT(g, 0, "target");
    }
    SAME(ioctl(g, FICLONERANGE, (void *)8), -1);
    CHECK(errno == EFAULT || errno == EOPNOTSUPP);
    BYTES_AT(f, 0, "01234567890123456789");
    SAME(lseek(f, 0, SEEK_CUR), 5);
    SAME(ftruncate(f, 20), 0);
    return 0;
}
