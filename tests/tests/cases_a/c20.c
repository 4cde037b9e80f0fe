/* A program with work before main, in the order of the linker: its own constructor and the early one of a library. */
#include "case.h"

__attribute__((weak)) int early_settings(void);

static void first(int argc, char **argv, char **envp)
{
    int f = open("preinit.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    SAME(write(f, "preinit\n", 8), 8);
    SAME(close(f), 0);
}

#ifndef WITHOUT_PREINIT
__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **, char **) = first;
#endif

__attribute__((constructor)) static void constructor(void)
{
    int f = open("constructor.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    SAME(write(f, "constructed\n", 12), 12);
    /* Left open over main. */
}

int main(void)
{
    char *memory = calloc(1, 100000);
    int f = open("main", O_RDWR | O_CREAT | O_TRUNC, 0644);
    SAME(write(f, memory, 100000), 100000);
    SAME(pread(f, memory, 100000, 0), 100000);
    SAME(close(f), 0);
    free(memory);
    if (early_settings)
        SAME(early_settings(), 1);
    f = open("constructor.log", O_RDONLY);
    CHECK(f >= 0);
    SAME(lseek(f, 0, SEEK_END) % 12, 0);
    return 0;
}
