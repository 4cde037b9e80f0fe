/* A library whose constructor works with files. */
#include "case.h"

__attribute__((constructor(101))) static void early(void)
{
    char text[16] = "";
    int f = open("settings", O_RDONLY);
    SAME(read(f, text, sizeof text), 9);
    CHECK(memcmp(text, "settings\n", 9) == 0);
    SAME(close(f), 0);
    struct stat seen;
    SAME(stat("settings", &seen), 0);
    SAME(seen.st_size, 9);
    FILE *log = fopen("early.log", "a");
    fprintf(log, "early\n");
    SAME(fclose(log), 0);
}
