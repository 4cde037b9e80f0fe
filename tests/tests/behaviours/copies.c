/* Copies inside the kernel: between files, pipes and sockets, at every pair of offsets, with every flag. */
#include "matrix.h"

#define SIZE 10000

static int in, out, both, appends, only_out, directory, pipes[2], sockets[2];

static void open_all(void) {
    settled("in", SIZE);
    settled("out", SIZE / 2);
    settled("both", SIZE);
    in = NEED(open("in", O_RDWR));
    out = NEED(open("out", O_RDWR));
    both = NEED(open("both", O_RDWR));
    appends = NEED(open("out", O_RDWR | O_APPEND));
    only_out = NEED(open("out", O_WRONLY));
    directory = NEED(open(".", O_RDONLY));
    NEED(pipe2(pipes, O_NONBLOCK));
    NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets));
    static char bytes[2000];
    pattern(bytes, sizeof bytes, 8);
    /* Bytes that wait: in the middle, at the end, and through another descriptor. */
    pwrite(in, bytes, 2000, 3000);
    pwrite(in, bytes, 2000, SIZE - 1000);
    pwrite(out, bytes, 500, 100);
    pwrite(both, bytes, 2000, 100);
    lseek(in, 2500, SEEK_SET);
    lseek(out, 50, SEEK_SET);
    lseek(both, 300, SEEK_SET);
}

static void close_all(void) {
    int all[] = {in, out, both, appends, only_out, directory, pipes[0], pipes[1], sockets[0], sockets[1]};
    for (int i = 0; i < 10; i++) close(all[i]);
}

static void drain(int fd) {
    static char bytes[100000];
    ssize_t n = read(fd, bytes, sizeof bytes);
    line("%s   drained %zd %06lx", label_, n, n > 0 ? digest(bytes, n) : 0);
}

static void states(void) {
    state(in);
    state(out);
    state(both);
    drain(pipes[0]);
    drain(sockets[1]);
    close_all();
}

static int pick(int i) {
    int all[] = {in, out, both, appends, only_out, pipes[1], sockets[0], directory, -1, pipes[0]};
    return all[i];
}

int main(void) {
    const size_t counts[] = {0, 1, 4000, SIZE * 2, SSIZE_MAX, (size_t)-1};
    const off_t offsets[] = {0, 2900, SIZE + 500, SIZE + 5000, -1, INT64_MAX};
    for (int from = 0; from < 10; from++)
        for (int to = 0; to < 10; to++)
            for (int c = 0; c < 6; c++)
                for (int o = -1; o < 6; o++) {
                    if (o > 0 && c != 2) continue;
                    /* A file that grows as it is copied to its own end has no end. */
                    if (c > 3 && (from == to || from + to == 4 || from + to == 5 || from + to == 7)) continue;
                    if (from > 4 && to > 4 && c != 2) continue;
                    if (left_out()) continue;
                    open_all();
                    if (from == 9) NEED(write(pipes[1], "in the pipe before", 18));
                    LABEL("sendfile %d to %d n %zx at %d", from, to, counts[c], o);
                    off_t at = o < 0 ? 0 : offsets[o];
                    R(sendfile(pick(to), pick(from), o < 0 ? 0 : &at, counts[c]));
                    line("%s   at %lld", label_, (long long)at);
                    states();
                    open_all();
                    if (from == 9) NEED(write(pipes[1], "in the pipe before", 18));
                    LABEL("splice %d to %d n %zx at %d", from, to, counts[c], o);
                    at = o < 0 ? 0 : offsets[o];
                    R(splice(pick(from), o < 0 || from >= 5 ? 0 : &at, pick(to), o < 0 || to >= 5 ? 0 : &at, counts[c], SPLICE_F_NONBLOCK));
                    line("%s   at %lld", label_, (long long)at);
                    states();
                }
    for (int from = 0; from < 9; from++)
        for (int to = 0; to < 9; to++)
            for (int a = -1; a < 6; a++)
                for (int b = -1; b < 6; b++)
                    for (int c = 0; c < 6; c++) {
                        if (from > 2 || to > 4 ? c != 2 || a > 0 || b > 0 : c > 2 && (a > 0 || b > 0)) continue;
                        if (b == 5 && c && a >= 0) continue;
                        if (c > 3 && (from == to || from + to == 4 || from + to == 5 || from + to == 7)) continue;
                        if (left_out()) continue;
                        open_all();
                        off_t at = a < 0 ? 0 : offsets[a], into = b < 0 ? 0 : offsets[b];
                        LABEL("range %d@%d to %d@%d n %zx", from, a, to, b, counts[c]);
                        R(copy_file_range(pick(from), a < 0 ? 0 : &at, pick(to), b < 0 ? 0 : &into, counts[c], 0));
                        line("%s   at %lld %lld", label_, (long long)at, (long long)into);
                        states();
                    }
    open_all();
    LABEL("odd");
    off_t at = 10, into = 5000;
    R(copy_file_range(in, &at, out, &into, 100, 1));
    R(copy_file_range(in, (off_t *)1, out, &into, 100, 0));
    R(copy_file_range(in, &at, out, (off_t *)1, 100, 0));
    R(copy_file_range(in, &at, in, &at, 100, 0));
    into = 60;
    R(copy_file_range(in, &at, in, &into, 100, 0));
    into = 110;
    at = 10;
    R(copy_file_range(in, &at, in, &into, 100, 0));
    R(sendfile(out, in, (off_t *)1, 100));
    R(splice(in, (off_t *)1, pipes[1], 0, 100, 0));
    R(splice(in, &at, pipes[1], &at, 100, 0));
    R(splice(in, 0, out, 0, 100, 0));
    R(splice(in, 0, pipes[1], 0, 100, 0xff0));
    R(splice(pipes[0], 0, pipes[1], 0, 100, SPLICE_F_NONBLOCK));
    R(tee(in, pipes[1], 100, 0));
    R(tee(pipes[0], out, 100, 0));
    R(tee(pipes[0], pipes[1], 100, 0));
    char words[20] = "twenty bytes of text";
    struct iovec iov = {words, 20}, bad = {(void *)1, 20};
    R(vmsplice(in, &iov, 1, 0));
    R(vmsplice(pipes[1], &iov, 1, 0));
    R(vmsplice(pipes[1], &bad, 1, 0));
    R(vmsplice(pipes[1], &iov, 2000, 0));
    R(vmsplice(pipes[1], &iov, 1, 0x100));
    R(splice(pipes[0], 0, appends, 0, 100, 0));
    R(splice(pipes[0], 0, out, 0, 100, SPLICE_F_MOVE | SPLICE_F_MORE));
    states();
    /* A socket that takes a file piece by piece. */
    open_all();
    LABEL("socket");
    for (int i = 0; i < 4; i++) {
        R(sendfile(sockets[0], in, 0, 3000));
        R(write(in, "between", 7));
        R(recv(sockets[1], words, 10, 0));
        R(lseek(in, 0, SEEK_CUR));
    }
    states();
    /* By number. */
    open_all();
    LABEL("number");
    R(syscall(SYS_sendfile, out, in, 0, 100));
    R(syscall(SYS_copy_file_range, in, 0, out, 0, 100, 0));
    R(syscall(SYS_splice, in, 0, pipes[1], 0, 100, 0));
    R(syscall(SYS_splice, pipes[0], 0, out, 0, 50, 0));
    R(syscall(SYS_vmsplice, pipes[1], &iov, 1, 0));
    R(syscall(SYS_tee, pipes[0], pipes[1], 10, 0));
    states();
    return 0;
}
