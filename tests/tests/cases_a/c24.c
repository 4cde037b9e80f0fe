/* Sizes by every name of stat, of a file that another process is writing. */
#include "case.h"
#include <dlfcn.h>
#include <fts.h>
#include <ftw.h>
#include <sys/syscall.h>

static long long walked;

static int visit(const char *path, const struct stat *seen, int kind, struct FTW *at)
{
    if (kind == FTW_F && strstr(path, "open") != NULL)
        walked = seen->st_size;
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argv[1];
    long long size = atoll(argv[2]);
    struct stat seen;
    struct statx extended;
    int here = open(".", O_RDONLY | O_DIRECTORY), f = open(name, O_RDONLY), path = open(name, O_PATH);
    SAME(stat(name, &seen), 0);
    SAME(seen.st_size, size);
    SAME(lstat(name, &seen), 0);
    SAME(seen.st_size, size);
    SAME(fstat(f, &seen), 0);
    SAME(seen.st_size, size);
    SAME(fstat(path, &seen), 0);
    SAME(seen.st_size, size);
    SAME(fstatat(here, name, &seen, AT_SYMLINK_NOFOLLOW), 0);
    SAME(seen.st_size, size);
    SAME(fstatat(path, "", &seen, AT_EMPTY_PATH), 0);
    SAME(seen.st_size, size);
    SAME(syscall(SYS_newfstatat, here, name, &seen, 0), 0);
    SAME(seen.st_size, size);
    SAME(syscall(SYS_fstat, f, &seen), 0);
    SAME(seen.st_size, size);
    for (int how = 0; how < 4; how++) {
        memset(&extended, 0xee, sizeof extended);
        if (how == 0)
            SAME(statx(here, name, AT_STATX_SYNC_AS_STAT, STATX_BASIC_STATS | STATX_BTIME, &extended), 0);
        else if (how == 1)
            SAME(statx(f, "", AT_EMPTY_PATH, STATX_SIZE, &extended), 0);
        else if (how == 2)
            SAME(syscall(SYS_statx, AT_FDCWD, name, 0, STATX_BASIC_STATS, &extended), 0);
        else
            SAME(statx(AT_FDCWD, name, AT_STATX_DONT_SYNC, STATX_SIZE | STATX_MODE, &extended), 0);
        SAME(extended.stx_size, size);
        CHECK(extended.stx_mask & STATX_SIZE);
        CHECK(S_ISREG(extended.stx_mode));
        SAME(extended.stx_ino, seen.st_ino);
        if (how == 0)
            SAME(extended.stx_mask & STATX_BASIC_STATS, STATX_BASIC_STATS);
    }
    /* Names that old programs were linked with. */
    const char *old[] = {"__xstat", "__lxstat", "__xstat64"};
    for (int i = 0; i < 3; i++) {
        int (*call)(int, const char *, struct stat *) = dlsym(RTLD_DEFAULT, old[i]);
        if (call == NULL)
            continue;
        seen.st_size = 0;
        SAME(call(1, name, &seen), 0);
        SAME(seen.st_size, size);
    }
    int (*fxstat)(int, int, struct stat *) = dlsym(RTLD_DEFAULT, "__fxstat");
    if (fxstat != NULL) {
        SAME(fxstat(1, f, &seen), 0);
        SAME(seen.st_size, size);
    }
    SAME(nftw(".", visit, 8, FTW_PHYS), 0);
    SAME(walked, size);
    char *roots[] = {".", NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL, NULL);
    walked = 0;
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;)
        if (entry->fts_info == FTS_F && strcmp(entry->fts_name, name) == 0)
            walked = entry->fts_statp->st_size;
    SAME(walked, size);
    return 0;
}
