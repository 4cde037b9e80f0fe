/* Restricts its calls, forks and ends; the child writes once its parent has long gone. Called as `locked read`: reads before and after that. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

static int look(void)
{
    char text[4];
    int f = open("f", O_RDONLY);
    if (pread(f, text, 4, 0) != 4 || write(1, text, 4) != 4)
        return 1;
    sleep(3);
    return pread(f, text, 4, 0) != 4 || write(1, text, 4) != 4;
}

int main(int argc, char **argv)
{
    struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog program = { 1, all };
    (void)argv;
    if (argc > 1)
        return look();
    int f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(f, "old\n", 4) != 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return 2;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 3;
    if (fork())
        _exit(0);
    sleep(2);
    _exit(pwrite(f, "new\n", 4, 0) != 4);
}
