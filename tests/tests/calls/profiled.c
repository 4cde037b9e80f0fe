/* Counts its calls, and leaves a profile behind when it ends. */
#include "case.h"

__attribute__((noinline)) void often(void)
{
    __asm__ volatile("");
}

__attribute__((noinline)) void once(void)
{
    for (int i = 0; i < 12345; i++)
        often();
}

int main(void)
{
    int f = open("other", O_RDWR | O_CREAT, 0644);
    SAME(write(f, "bytes", 5), 5);
    once();
    return 0;
}
