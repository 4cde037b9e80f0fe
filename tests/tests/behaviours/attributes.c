/* Attributes: times, modes and owners set while bytes wait, and what every kind of stat says of them; as another user too, and from other roots. */
#include "matrix.h"
#include <grp.h>
#include <sched.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <utime.h>

static void told(const char *how, long long size, unsigned mode, unsigned links, long long at, long long mt) {
    /* Times that were set are told; others are only now. */
    line("%s   %s size %lld mode %o links %u times %lld %lld", label_, how, size, mode, links, at < 2000000000 && at > 1500000000 ? -1 : at,
         mt < 2000000000 && mt > 1500000000 ? -1 : mt);
}

static void look(int fd) {
    struct stat st;
    struct statx x;
    if (!fstat(fd, &st)) told("fstat", st.st_size, st.st_mode, st.st_nlink, st.st_atime, st.st_mtime);
    if (!stat("file", &st)) told("stat", st.st_size, st.st_mode, st.st_nlink, st.st_atime, st.st_mtime);
    if (!lstat("file", &st)) told("lstat", st.st_size, st.st_mode, st.st_nlink, st.st_atime, st.st_mtime);
    if (!fstatat(fd, "", &st, AT_EMPTY_PATH)) told("fstatat", st.st_size, st.st_mode, st.st_nlink, st.st_atime, st.st_mtime);
    if (!syscall(SYS_fstat, fd, &st)) told("number", st.st_size, st.st_mode, st.st_nlink, st.st_atime, st.st_mtime);
    if (!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x)) told("statx", x.stx_size, x.stx_mode, x.stx_nlink, x.stx_atime.tv_sec, x.stx_mtime.tv_sec);
    line("%s   blocks %d", label_, !fstat(fd, &st) && (st.st_blocks > 0) == (st.st_size > 0));
}

static void times(void) {
    const struct timespec sets[][2] = {{{1000, 5}, {2000, 7}}, {{0, UTIME_NOW}, {0, UTIME_NOW}}, {{0, UTIME_OMIT}, {0, UTIME_OMIT}}, {{0, UTIME_OMIT}, {3000, 9}},
                                      {{4000, 1}, {0, UTIME_OMIT}}, {{0, UTIME_NOW}, {5000, 5}}, {{-1, 0}, {-5, 999999999}}, {{0, 1000000000}, {1, 1}},
                                      {{1, -1}, {1, 1}}, {{1l << 31, 0}, {1l << 32, 0}}, {{0, 0}, {0, 0}}};
    for (unsigned s = 0; s < sizeof sets / sizeof *sets; s++)
        for (int how = 0; how < 10; how++) {
            int fd = dirty("file", 5000, O_RDWR);
            LABEL("times %u how %d", s, how);
            const struct timespec *t = sets[s];
            struct timeval v[2] = {{t[0].tv_sec, t[0].tv_nsec / 1000}, {t[1].tv_sec, t[1].tv_nsec / 1000}};
            struct utimbuf u = {t[0].tv_sec, t[1].tv_sec};
            NEED(pwrite(fd, "more", 4, 6000));
            switch (how) {
            case 0: R(futimens(fd, t)); break;
            case 1: R(utimensat(AT_FDCWD, "file", t, 0)); break;
            case 2: R(utimensat(AT_FDCWD, "file", t, AT_SYMLINK_NOFOLLOW)); break;
            case 3: R(utimensat(fd, "", t, AT_EMPTY_PATH)); break;
            case 4: R(futimes(fd, v)); break;
            case 5: R(utimes("file", v)); break;
            case 6: R(utime("file", &u)); break;
            case 7: R(syscall(SYS_utimensat, fd, 0, t, 0)); break;
            case 8: R(futimesat(AT_FDCWD, "file", v)); break;
            case 9: R(utimensat(AT_FDCWD, "file", t, 0x8000)); break;
            }
            look(fd);
            close(fd);
            fd = NEED(open("file", O_RDONLY));
            look(fd);
            close(fd);
        }
    LABEL("times");
    int fd = dirty("file", 5000, O_RDWR), reading = NEED(open("file", O_RDONLY)), path = NEED(open("file", O_PATH));
    R(futimens(fd, 0));
    R(futimens(reading, sets[0]));
    look(fd);
    R(futimens(path, sets[0]));
    R(utimensat(AT_FDCWD, 0, sets[0], 0));
    R(utimensat(-1, "file", sets[0], 0));
    R(utimensat(AT_FDCWD, "missing", sets[0], 0));
    R(utimensat(AT_FDCWD, "", sets[0], 0));
    R(utimes("missing", 0));
    R(write(fd, "after", 5));
    struct stat st;
    R(fstat(fd, &st));
    R(st.st_mtime > 1500000000);
    close(fd);
    R(stat("file", &st));
    R(st.st_mtime > 1500000000);
}

static void modes(void) {
    const int sets[] = {0, 0400, 0200, 0777, 04755, 02755, 06777, 01777, 07777, 0100644, -1};
    for (unsigned s = 0; s < sizeof sets / sizeof *sets; s++)
        for (int how = 0; how < 5; how++) {
            int fd = dirty("file", 5000, O_RDWR);
            LABEL("mode %o how %d", sets[s], how);
            switch (how) {
            case 0: R(fchmod(fd, sets[s])); break;
            case 1: R(chmod("file", sets[s])); break;
            case 2: R(fchmodat(AT_FDCWD, "file", sets[s], 0)); break;
            case 3: R(fchmodat(AT_FDCWD, "file", sets[s], AT_SYMLINK_NOFOLLOW)); break;
            case 4: R(syscall(SYS_fchmod, fd, sets[s])); break;
            }
            look(fd);
            /* A write takes the set-id bits of who has not the right to keep them. */
            R(write(fd, "x", 1));
            R(pread(fd, label_ + 400, 1, 0));
            look(fd);
            R(ftruncate(fd, 10));
            look(fd);
            close(fd);
        }
    if (geteuid()) return;
    for (int how = 0; how < 5; how++) {
        int fd = dirty("file", 5000, O_RDWR);
        LABEL("owner %d", how);
        R(fchmod(fd, 06755));
        R(pwrite(fd, "owned", 5, 7000));
        switch (how) {
        case 0: R(fchown(fd, 1, 2)); break;
        case 1: R(chown("file", -1, 3)); break;
        case 2: R(lchown("file", 4, -1)); break;
        case 3: R(fchownat(fd, "", 5, 6, AT_EMPTY_PATH)); break;
        case 4: R(syscall(SYS_chown, "file", 7, 8)); break;
        }
        struct stat st;
        R(fstat(fd, &st));
        line("   %d %d", st.st_uid, st.st_gid);
        look(fd);
        close(fd);
    }
}

static void named_values(void) {
    int fd = dirty("file", 100, O_RDWR);
    char value[64];
    LABEL("xattr");
    R(fsetxattr(fd, "user.x", "value", 5, 0));
    R(fsetxattr(fd, "user.x", "value", 5, XATTR_CREATE));
    R(setxattr("file", "user.y", "v", 1, XATTR_REPLACE));
    R(fgetxattr(fd, "user.x", value, 64));
    R(fgetxattr(fd, "user.x", value, 2));
    R(flistxattr(fd, value, 64));
    R(fremovexattr(fd, "user.x"));
    R(fremovexattr(fd, "user.x"));
    state(fd);
    close(fd);
}

static void statx_masks(void) {
    int fd = dirty("file", 100, O_RDWR);
    struct statx x;
    for (unsigned mask = 1; mask; mask <<= 1) {
        LABEL("statx %x", mask);
        NEED(pwrite(fd, "grow", 4, 200 + __builtin_ctz(mask)));
        R(statx(fd, "", AT_EMPTY_PATH, mask, &x));
        line("   size %lld", (long long)x.stx_size);
    }
    LABEL("statx");
    R(statx(AT_FDCWD, "file", AT_STATX_FORCE_SYNC, STATX_SIZE, &x));
    R(statx(AT_FDCWD, "file", AT_STATX_DONT_SYNC, STATX_SIZE, &x));
    R(statx(AT_FDCWD, "file", AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC, STATX_SIZE, &x));
    R(statx(AT_FDCWD, "file", 0x8000000, STATX_SIZE, &x));
    R(statx(AT_FDCWD, "missing", 0, STATX_SIZE, &x));
    R(statx(AT_FDCWD, "", 0, STATX_SIZE, &x));
    R(statx(fd, "x", 0, STATX_SIZE, &x));
    R(statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, (void *)1));
    R(fstat(fd, (void *)1));
    R(stat("file", (void *)1));
    R(syscall(SYS_fstat, fd, 1));
    R(syscall(SYS_newfstatat, fd, "", 1, AT_EMPTY_PATH));
    struct statfs f;
    R(fstatfs(fd, &f));
    R(faccessat(AT_FDCWD, "file", R_OK | W_OK, 0));
    R(faccessat(AT_FDCWD, "file", R_OK | W_OK, AT_EACCESS));
    R(access("file", 77));
    R(eaccess("file", X_OK));
    close(fd);
}

/* Another user halfway through. */
static void identities(void) {
    if (geteuid()) return;
    chmod(".", 0777);
    for (int round = 0; round < 5; round++) {
        pid_t child = fork();
        if (child == 0) {
            LABEL("user %d", round);
            int fd = dirty("file", 5000, O_RDWR);
            chmod("file", 0600);
            switch (round) {
            case 0: R(seteuid(65534)); break;
            case 1: R(setgroups(0, 0)); R(setresgid(65534, 65534, 65534)); R(setresuid(65534, 65534, 65534)); break;
            case 2: R(setfsuid(65534)); break;
            case 3: R(syscall(SYS_setresuid, 65534, 65534, 0)); break;
            case 4: R(setreuid(65534, 65534)); break;
            }
            R(pwrite(fd, "as another", 10, 8000));
            R(open("file", O_RDWR));
            R(open("file", O_RDONLY));
            R(truncate("file", 10));
            R(chmod("file", 0644));
            state(fd);
            R(fchmod(fd, 0644));
            R(fsync(fd));
            int own = open("own", O_CREAT | O_RDWR | O_TRUNC, 0600);
            R(write(own, "mine", 4));
            for (int i = 0; i < 3000; i++) pwrite(own, label_, 100, i * 111);
            state(own);
            struct stat st;
            R(fstat(own, &st));
            R(st.st_uid);
            R(fchown(own, 0, 0));
            R(fchmod(own, 06777));
            R(write(own, "x", 1));
            R(fstat(own, &st));
            R(st.st_mode);
            close(own);
            if (round == 0) R(seteuid(0));
            state(fd);
            R(close(fd));
            if (fork() == 0) {
                int in = open("own", O_RDWR);
                state(in);
                R(pwrite(in, "grandchild", 10, 0));
                _exit(0);
            }
            wait(0);
            state(open("own", O_RDONLY));
            _exit(0);
        }
        waitpid(child, 0, 0);
        unlink("own");
    }
    /* Other roots and namespaces. */
    for (int round = 0; round < 6; round++) {
        pid_t child = fork();
        if (child == 0) {
            LABEL("elsewhere %d", round);
            int fd = dirty("file", 5000, O_RDWR);
            mkdir("root", 0755);
            settled("root/inside", 300);
            switch (round) {
            case 0: R(chroot("root")); R(chdir("/")); break;
            case 1: R(unshare(CLONE_NEWNS)); break;
            case 2: R(unshare(CLONE_FILES)); break;
            case 3: R(unshare(CLONE_FS)); R(chdir("root")); break;
            case 4: R(unshare(CLONE_NEWUSER)); break;
            case 5: R(unshare(CLONE_NEWPID)); break;
            }
            R(pwrite(fd, "elsewhere", 9, 6000));
            state(fd);
            int other = open(round == 0 || round == 3 ? "inside" : "root/inside", O_RDWR);
            R(pwrite(other, "inside now", 10, 10));
            state(other);
            R(dup2(fd, other));
            R(pwrite(other, "both", 4, 0));
            int made = open("made", O_CREAT | O_RDWR | O_TRUNC, 0644);
            for (int i = 0; i < 3000; i++) pwrite(made, label_, 100, i * 111);
            state(made);
            if (fork() == 0) {
                R(pwrite(fd, "child", 5, 100));
                R(pwrite(made, "child", 5, 100));
                close(made);
                _exit(0);
            }
            wait(0);
            state(fd);
            state(made);
            R(close(fd));
            _exit(0);
        }
        waitpid(child, 0, 0);
        LABEL("elsewhere %d after", round);
        int fd = open("file", O_RDONLY);
        state(fd);
        close(fd);
        fd = open("root/inside", O_RDONLY);
        state(fd);
        close(fd);
    }
}

int main(void) {
    umask(022);
    times();
    modes();
    named_values();
    statx_masks();
    identities();
    return 0;
}
