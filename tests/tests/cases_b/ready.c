/* What event interfaces say of a regular file. */
#include "case.h"
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
int main(void) {
    int f = MUST(open("f", O_RDWR | O_CREAT, 0644));
    SAY(write(f, "ready", 5));
    int e = MUST(epoll_create1(EPOLL_CLOEXEC));
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT};
    SAY(epoll_ctl(e, EPOLL_CTL_ADD, f, &event));
    SAY(epoll_ctl(e, EPOLL_CTL_DEL, f, &event));
    struct pollfd p = {f, POLLIN | POLLOUT, 0};
    SAY(poll(&p, 1, 5000));
    HOLDS(p.revents == (POLLIN | POLLOUT));
    fd_set r, w;
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_SET(f, &r);
    FD_SET(f, &w);
    struct timeval bound = {5, 0};
    SAY(select(f + 1, &r, &w, NULL, &bound));
    HOLDS(FD_ISSET(f, &r) && FD_ISSET(f, &w));
    HOLDS(bound.tv_sec == 5 || bound.tv_usec > 900000);
    /* As a runtime with its own poller opens a file: non-blocking, offered to epoll, then read without it. */
    int g = MUST(syscall(SYS_openat, AT_FDCWD, "f", O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    SAY(syscall(SYS_epoll_ctl, e, EPOLL_CTL_ADD, g, &event));
    char b[8];
    SAY(syscall(SYS_read, g, b, sizeof b));
    SAY(fcntl(g, F_SETFL, fcntl(g, F_GETFL) & ~O_NONBLOCK));
    SAY(read(g, b, sizeof b));
    return 0;
}
