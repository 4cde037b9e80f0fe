/* Descriptors of dirty files that go to another process by several calls; both sides then share the offset. */
#include "case.h"
#include <sys/syscall.h>

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(2 * sizeof(int))];
};

static void fill(struct msghdr *m, struct iovec *part, char *byte, union control *control, int count, int *fds)
{
    memset(m, 0, sizeof *m);
    memset(control, 0, sizeof *control);
    part->iov_base = byte;
    part->iov_len = 1;
    m->msg_iov = part;
    m->msg_iovlen = 1;
    m->msg_control = control;
    m->msg_controllen = CMSG_SPACE(count * sizeof(int));
    if (fds) {
        struct cmsghdr *c = CMSG_FIRSTHDR(m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    }
}

int main(void)
{
    int pair[2], ready[2], f = open("f", O_RDWR | O_CREAT | O_TRUNC, 0644), g = open("g", O_RDWR | O_CREAT, 0644);
    int h = open("h", O_RDWR | O_CREAT, 0644);
    SAME(write(f, "first ", 6), 6);
    SAME(write(f, "second ", 7), 7);
    SAME(write(g, "one ", 4), 4);
    SAME(write(g, "two ", 4), 4);
    SAME(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    SAME(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        close(f), close(g), close(h);
        struct mmsghdr in[2];
        struct iovec parts[2];
        union control controls[2];
        char bytes[2];
        int fds[2][2];
        for (int i = 0; i < 2; i++)
            fill(&in[i].msg_hdr, &parts[i], &bytes[i], &controls[i], 2, NULL);
        int got = 0;
        while (got < 2)
            got += recvmmsg(pair[1], in + got, 2 - got, 0, NULL);
        for (int i = 0; i < 2; i++)
            memcpy(fds[i], CMSG_DATA(CMSG_FIRSTHDR(&in[i].msg_hdr)), sizeof fds[i]);
        SAME(write(fds[0][0], "third ", 6), 6);
        SAME(lseek(fds[0][1], 0, SEEK_CUR), 8);
        SAME(pread(fds[1][0], bytes, 2, 0), 2);
        SAME(write(fds[1][0], "three ", 6), 6);
        /* Taken out of the parent, which goes on with it. */
        int parent = syscall(SYS_pidfd_open, getppid(), 0);
        CHECK(parent >= 0);
        char c;
        SAME(read(ready[0], &c, 1), 1);
        int taken = syscall(SYS_pidfd_getfd, parent, h, 0);
        CHECK(taken >= 0);
        SAME(write(taken, "child", 5), 5);
        _exit(0);
    }
    struct mmsghdr out[2];
    struct iovec parts[2];
    union control controls[2];
    char bytes[2] = "ab";
    int fds[2][2] = {{f, g}, {g, f}};
    for (int i = 0; i < 2; i++)
        fill(&out[i].msg_hdr, &parts[i], &bytes[i], &controls[i], 2, fds[i]);
    SAME(sendmmsg(pair[0], out, 2, 0), 2);
    SAME(write(h, "parent ", 7), 7);
    SAME(write(h, "again ", 6), 6);
    SAME(write(ready[1], "x", 1), 1);
    int status;
    SAME(waitpid(child, &status, 0), child);
    SAME(status, 0);
    SAME(write(f, "fourth", 6), 6);
    SAME(lseek(g, 0, SEEK_CUR), 14);
    BYTES_AT(f, 0, "first second third fourth");
    BYTES_AT(g, 0, "one two three ");
    SAME(lseek(h, 0, SEEK_CUR), 18);
    BYTES_AT(h, 0, "parent again child");
    /* What the kernel refuses. */
    SAME(sendmsg(pair[0], (void *)8, 0), -1);
    SAME(errno, EFAULT);
    struct msghdr bad = out[0].msg_hdr;
    bad.msg_control = (void *)8;
    SAME(sendmsg(pair[0], &bad, 0), -1);
    SAME(errno, EFAULT);
    SAME(sendmmsg(pair[0], (void *)8, 2, 0), -1);
    SAME(errno, EFAULT);
    SAME(recvmmsg(pair[1], (void *)8, 2, MSG_DONTWAIT, NULL), -1);
    SAME(errno, EFAULT);
    return 0;
}
