/* With an argument: goes there and runs itself. Without: uses what it has inherited. */
#include "case.h"

int main(int count, char **arguments) {
    if (count > 1) {
        int own = open("root/own", O_CREAT | O_RDWR, 0644);
        CHECK(own >= 0);
        SAME(write(own, "own", 3), 3);
        /* Who may not change the root says so in both runs. */
        if (chroot(arguments[1]) != 0)
            return errno != EPERM;
        CHECK(chdir("/") == 0);
        int late = open("late", O_CREAT | O_RDWR | O_TRUNC, 0644);
        CHECK(late >= 0);
        SAME(write(late, "late", 4), 4);
        BYTES_AT(late, 0, "late");
        BYTES_AT(own, 0, "own");
        execl("/chrooted", "chrooted", (char *)NULL);
        return 1;
    }
    SAME(write(3, "two\n", 4), 4);
    char rest[8] = {0};
    SAME(pread(4, rest, sizeof rest, 1), 2);
    puts(rest);
    CHECK(getenv("LD_PRELOAD") == NULL || strstr(getenv("LD_PRELOAD"), "millpond") == NULL);
    return 0;
}
