#include "case.h"
#include <poll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>

/* What an inotify descriptor has to tell, in order. */
static void tell(const char *when, int notify) {
    char room[4096] __attribute__((aligned(8)));
    printf("%s:", when);
    for (;;) {
        ssize_t n = read(notify, room, sizeof room);
        if (n <= 0)
            break;
        for (char *at = room; at < room + n; at += sizeof(struct inotify_event) + ((struct inotify_event *)at)->len) {
            struct inotify_event *event = (struct inotify_event *)at;
            printf(" %x%s%s", event->mask, event->len ? "/" : "", event->len ? event->name : "");
        }
    }
    printf("\n");
}

static int make(const char *name) {
    int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
    CHECK(fd >= 0);
    SAME(write(fd, "0123456789", 10), 10);
    SAME(pwrite(fd, "x", 1, 3), 1);
    return fd;
}

static void use(int fd) {
    char byte;
    SAME(pwrite(fd, "w", 1, 5), 1);
    SAME(pread(fd, &byte, 1, 5), 1);
    SAME(pwrite(fd, "w", 1, 5), 1);
}

static volatile sig_atomic_t told;
static void on_signal(int signal) { told++; }

int main(void) {
    int notify = inotify_init1(IN_NONBLOCK);
    CHECK(notify >= 0);
    /* A file that nobody has open when it is watched, but whose bytes are cached. */
    close(make("closed"));
    CHECK(inotify_add_watch(notify, "closed", IN_ACCESS | IN_MODIFY) >= 0);
    int fd = open("closed", O_RDWR);
    use(fd);
    tell("file", notify);
    close(fd);
    /* A directory: files open before, in this process and in another one, and files opened later. */
    int before = make("d/before");
    int go[2], done[2];
    char byte = 0;
    SAME(pipe(go), 0);
    SAME(pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        int other = make("d/other");
        write(done[1], "", 1);
        read(go[0], &byte, 1);
        use(other);
        write(done[1], "", 1);
        read(go[0], &byte, 1);
        close(other);
        int later = open("d/later", O_CREAT | O_RDWR, 0644);
        use(later);
        write(done[1], "", 1);
        read(go[0], &byte, 1);
        _exit(0);
    }
    SAME(read(done[0], &byte, 1), 1);
    CHECK(inotify_add_watch(notify, "d", IN_ACCESS | IN_MODIFY) >= 0);
    use(before);
    tell("own", notify);
    write(go[1], "", 1);
    SAME(read(done[0], &byte, 1), 1);
    tell("another's", notify);
    write(go[1], "", 1);
    SAME(read(done[0], &byte, 1), 1);
    tell("later", notify);
    write(go[1], "", 1);
    SAME(waitpid(child, NULL, 0), child);
    tell("end", notify);
    /* Beside it, nothing changes. */
    int beside = make("e/beside");
    use(beside);
    /* dnotify */
    signal(SIGIO, on_signal);
    int directory = open("e", O_RDONLY);
    SAME(fcntl(directory, F_NOTIFY, DN_ACCESS | DN_MODIFY | DN_MULTISHOT), 0);
    for (int i = 0; i < 3; i++) {
        told = 0;
        i % 2 ? pread(beside, &byte, 1, 0) : pwrite(beside, "y", 1, i);
        printf("signal %d\n", told > 0);
    }
    close(directory);
    /* fanotify, where one may */
    int fan = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK, O_RDONLY);
    int third = make("third");
    if (fan >= 0 && fanotify_mark(fan, FAN_MARK_ADD, FAN_MODIFY | FAN_ACCESS, AT_FDCWD, "third") == 0) {
        use(third);
        struct fanotify_event_metadata events[16];
        ssize_t n = read(fan, events, sizeof events);
        unsigned long long masks = 0;
        for (struct fanotify_event_metadata *event = events; FAN_EVENT_OK(event, n); event = FAN_EVENT_NEXT(event, n)) {
            masks |= event->mask;
            close(event->fd);
        }
        printf("marks %llx\n", masks);
    } else {
        use(third);
    }
    return 0;
}
