/* Writes through a buffered descriptor, allows itself nothing but a few calls, and goes on: unmaps, and closes what may be open. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (n), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read),   ALLOW(SYS_write),  ALLOW(SYS_pread64), ALLOW(SYS_lseek), ALLOW(SYS_close),
        ALLOW(SYS_getpid), ALLOW(SYS_fsync),  ALLOW(SYS_exit),    ALLOW(SYS_exit_group),
        ALLOW(SYS_munmap),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    char back[32] = "";
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    write(f, "before ", 7);
    write(f, "and ", 4);
    char *map = mmap(0, 4, PROT_READ, MAP_SHARED, f, 0);
    if (map == MAP_FAILED)
        return 3;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 2;
    write(f, "after\n", 6);
    lseek(f, 0, SEEK_SET);
    read(f, back, sizeof back - 1);
    write(1, back, strlen(back));
    munmap(map, 4);
    for (int fd = 3; fd < 4096; fd++)
        close(fd);
    _exit(0);
}
