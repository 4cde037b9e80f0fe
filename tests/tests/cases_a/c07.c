/* copy_file_range sees bytes that are not flushed, and its own are seen at once. */
#include "case.h"

int main(void)
{
    char block[10000], bytes[10000];
    memset(block, 'o', sizeof block);
    int f = open("from", O_RDWR | O_CREAT, 0644), g = open("to", O_RDWR | O_CREAT, 0644);
    SAME(write(f, block, sizeof block), sizeof block);
    SAME(close(f), 0);
    f = open("from", O_RDWR);
    SAME(pwrite(f, "NEW-BYTES!", 10, 5), 10);
    SAME(copy_file_range(f, NULL, g, NULL, 20000, 0), 10000);
    SAME(lseek(f, 0, SEEK_CUR), 10000);
    SAME(lseek(g, 0, SEEK_CUR), 10000);
    SAME(copy_file_range(f, NULL, g, NULL, 20000, 0), 0);
    BYTES_AT(g, 0, "oooooNEW-BYTES!ooo");
    /* With offsets: those of the descriptors stand still. */
    off64_t in = 5, out = 20000;
    SAME(pwrite(f, "again", 5, 5), 5);
    SAME(copy_file_range(f, &in, g, &out, 10, 0), 10);
    SAME(in, 15);
    SAME(out, 20010);
    SAME(lseek(g, 0, SEEK_CUR), 10000);
    BYTES_AT(g, 20000, "againYTES!");
    /* Within one file; the length that cp passes; a write-only and an appending target. */
    in = 0, out = 10000;
    SAME(copy_file_range(f, &in, f, &out, 10000, 0), 10000);
    BYTES_AT(f, 10005, "againYTES!");
    int w = open("whole", O_WRONLY | O_CREAT, 0600);
    SAME(lseek(f, 0, SEEK_SET), 0);
    SAME(write(w, "head", 4), 4);
    SAME(copy_file_range(f, NULL, w, NULL, 9223372035781033984LL, 0), 20000);
    SAME(copy_file_range(f, NULL, w, NULL, 9223372035781033984LL, 0), 0);
    SAME(write(w, "tail", 4), 4);
    int back = open("whole", O_RDONLY);
    BYTES_AT(back, 0, "headoooooagain");
    BYTES_AT(back, 20000, "ooootail");
    int a = open("append", O_WRONLY | O_CREAT | O_APPEND, 0600);
    in = 0;
    SAME(copy_file_range(f, &in, a, NULL, 5, 0), -1);
    SAME(errno, EBADF);
    (void)bytes;
    return 0;
}
