/* What a later write would take away (set-user-id, capabilities) or refuse (a flag) is set on a file with bytes that wait. */
#include "case.h"
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

/* Version 2, cap_net_raw permitted and effective. */
static const unsigned char capability[20] = {1, 0, 0, 2, 0, 0x20};

static int dirty(const char *name)
{
    int f = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);
    CHECK(f >= 0);
    SAME(write(f, "first ", 6), 6);
    SAME(write(f, "second\n", 7), 7);
    return f;
}

static void has_capability(const char *name)
{
    unsigned char back[64];
    SAME(getxattr(name, "security.capability", back, sizeof back), 20);
    CHECK(memcmp(back, capability, 20) == 0);
}

int main(void)
{
    int f = dirty("caps");
    if (fsetxattr(f, "security.capability", capability, sizeof capability, 0) == 0) {
        close(f);
        has_capability("caps");
        f = dirty("caps");
        SAME(setxattr("caps", "security.capability", capability, sizeof capability, 0), 0);
        close(f);
        has_capability("caps");
        f = dirty("caps");
        SAME(syscall(SYS_lsetxattr, "caps", "security.capability", capability, sizeof capability, 0), 0);
        close(f);
        has_capability("caps");
        /* A write takes it away. */
        f = open("caps", O_WRONLY);
        SAME(write(f, "x", 1), 1);
        close(f);
        char back[64];
        SAME(getxattr("caps", "security.capability", back, sizeof back), -1);
        SAME(errno, ENODATA);
    } else {
        CHECK(errno == EOPNOTSUPP || errno == EPERM);
        close(f);
    }
    f = dirty("f");
    SAME(lchown("f", getuid(), getgid()), 0);
    SAME(fchmod(f, 04755), 0);
    SAME(close(f), 0);
    struct stat st;
    SAME(stat("f", &st), 0);
    SAME(st.st_mode, S_IFREG | 04755);
    SAME(st.st_size, 13);
    /* Appending only, from now on: what was written before is there. */
    int flags = 0;
    f = dirty("only");
    if (ioctl(f, FS_IOC_GETFLAGS, &flags) == 0) {
        flags |= FS_APPEND_FL;
        if (ioctl(f, FS_IOC_SETFLAGS, &flags) == 0) {
            SAME(pwrite(f, "F", 1, 0), 1);
            SAME(close(f), 0);
            SAME(open("only", O_WRONLY), -1);
            SAME(errno, EPERM);
            f = open("only", O_RDONLY);
            BYTES_AT(f, 0, "First second\n");
            flags &= ~FS_APPEND_FL;
            SAME(ioctl(f, FS_IOC_SETFLAGS, &flags), 0);
        }
    }
    SAME(close(f), 0);
    return unlink("only");
}
