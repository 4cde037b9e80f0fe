/* A file that is renamed while bytes of it are unflushed keeps them under its new name alone. */
#include "case.h"

int main(void)
{
    int f = open("r1", O_WRONLY | O_CREAT | O_EXCL, 0644);
    SAME(write(f, "one", 3), 3);
    SAME(rename("r1", "r2"), 0);
    SAME(write(f, "two", 3), 3);
    SAME(access("r1", F_OK), -1);
    int g = open("r2", O_RDONLY);
    BYTES_AT(g, 0, "onetwo");
    SAME(close(f), 0);
    SAME(access("r1", F_OK), -1);
    BYTES_AT(g, 0, "onetwo");

    /* The old name goes to a new file at once; over an existing file; the directory above renamed. */
    f = open("s1", O_WRONLY | O_CREAT, 0644);
    SAME(write(f, "old file", 8), 8);
    SAME(rename("s1", "s2"), 0);
    int n = open("s1", O_WRONLY | O_CREAT | O_EXCL, 0644);
    SAME(write(n, "new", 3), 3);
    SAME(rename("s2", "r2"), 0);
    SAME(write(f, "!", 1), 1);
    SAME(close(f), 0);
    SAME(close(n), 0);
    BYTES_AT(g, 0, "onetwo");
    g = open("r2", O_RDONLY);
    BYTES_AT(g, 0, "old file!");
    SAME(mkdir("d1", 0755), 0);
    f = open("d1/x", O_RDWR | O_CREAT, 0644);
    SAME(write(f, "in d1", 5), 5);
    SAME(rename("d1", "d2"), 0);
    SAME(link("d2/x", "linked"), 0);
    SAME(write(f, ", d2", 4), 4);
    g = open("linked", O_RDONLY);
    BYTES_AT(g, 0, "in d1, d2");
    SAME(close(f), 0);
    SAME(access("d1", F_OK), -1);
    return 0;
}
