/* A program whose other threads are in the middle of writes executes itself, again and again: nothing they held stays held. */
#include "race.h"

static int f;
static char block[60000];

static void *writer(void *unused)
{
    for (;;)
        pwrite(f, block, sizeof block, 0);
    return unused;
}

int main(int count, char **arguments)
{
    enum { TIMES = 25 };
    int round = count > 2 ? atoi(arguments[1]) : 0;
    char next[20], descriptor[20];
    f = count > 2 ? atoi(arguments[2]) : open("f", O_CREAT | O_RDWR | O_TRUNC, 0644);
    alarm(20);
    pwrite(f, block, sizeof block, 0);
    if (round == TIMES) {
        puts("all rounds");
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, writer, 0);
    }
    usleep(15000 + rand() % 5000);
    sprintf(next, "%d", round + 1);
    sprintf(descriptor, "%d", f);
    execl("/proc/self/exe", arguments[0], next, descriptor, (char *)0);
    return 1;
}
