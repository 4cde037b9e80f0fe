/* What the programs of this folder share: each prints one line that must be the same plain and shimmed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The real file's size, by an inline system call that nothing catches. */
static inline long real_size(const char *name)
{
    struct stat st;
    long result;
    register long r10 __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_newfstatat), "D"((long)AT_FDCWD), "S"(name), "d"(&st), "r"(r10)
                     : "rcx", "r11", "memory");
    return result == 0 ? (long)st.st_size : -1;
}

static inline void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
}
