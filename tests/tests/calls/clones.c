/* Children by raw clone and clone3 that share memory until they exec, without any function of libc between. */
#include "case.h"
#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>

extern char **environ;
static char child_stack[1 << 16] __attribute__((aligned(16)));
static char *words[] = {"sh", "-c", "echo to child; echo shared >&7", NULL};
static int f;

/* As posix_spawn's child: opens, moves and closes descriptors, then runs a program. */
static int in_child(void *name)
{
    int out = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (out != 1) {
        dup2(out, 1);
        close(out);
    }
    dup2(f, 7);
    close(f);
    execve("/bin/sh", words, environ);
    _exit(127);
}

static void ended(pid_t child)
{
    int status;
    CHECK(child > 0);
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
}

/* The system call itself, on a stack of the child's own. */
static pid_t start(long number, long a, long b, void *stack, void *name)
{
    register void *r13 __asm__("r13") = name;
    register int (*r14)(void *) __asm__("r14") = in_child;
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    register void *r12 __asm__("r12") = stack;
    long result;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "mov %%r12, %%rsp\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r14\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(0L), "r"(r10), "r"(r8), "r"(r12), "r"(r13), "r"(r14)
                     : "rcx", "r11", "memory");
    return result;
}

int main(void)
{
    void *top = child_stack + sizeof child_stack - 64;
    f = open("f", O_RDWR | O_CREAT, 0644);
    SAME(write(f, "parent\n", 7), 7);
    for (int i = 0; i < 20; i++) {
        SAME(write(f, "dirty\n", 6), 6);
        ended(start(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, (long)top, top, "child1"));
        struct clone_args args = {.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD,
                                  .stack = (uint64_t)child_stack, .stack_size = sizeof child_stack - 64};
        ended(start(SYS_clone3, (long)&args, sizeof args, top, "child2"));
        /* By libc's own functions. */
        ended(clone(in_child, top, CLONE_VM | CLONE_VFORK | SIGCHLD, "child3"));
        ended(clone(in_child, top, SIGCHLD, "child4"));
        /* As a fork, by number. */
        struct clone_args as_fork = {.exit_signal = SIGCHLD};
        pid_t child = syscall(SYS_clone3, &as_fork, sizeof as_fork);
        if (child == 0)
            in_child("child5");
        ended(child);
        child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0)
            in_child("child6");
        ended(child);
    }
    struct stat st;
    SAME(lseek(f, 0, SEEK_CUR), 7 + 20 * (6 + 6 * 7));
    SAME(fstat(f, &st), 0);
    SAME(st.st_size, 7 + 20 * (6 + 6 * 7));
    return close(f);
}
