/* Becomes a program with no environment at all. */
#include "case.h"
int main(void) {
    char *words[] = {"echo", "7", NULL}, *none[] = {NULL};
    execve("/bin/echo", words, none);
    return 127;
}
