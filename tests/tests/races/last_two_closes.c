/* Two threads close the last two descriptors at once: after both, all bytes are in the real file. */
#include "race.h"

static pthread_barrier_t both;
static int descriptor[2];
static char block[100000];

static void *closer(void *which)
{
    pthread_barrier_wait(&both);
    close(descriptor[(long)which]);
    return 0;
}

int main(void)
{
    enum { ROUNDS = 200 };
    int wrong = 0;
    pthread_barrier_init(&both, 0, 2);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t threads[2];
        descriptor[0] = open("f", O_CREAT | O_RDWR | O_TRUNC, 0644);
        descriptor[1] = open("f", O_RDWR);
        write(descriptor[0], block, sizeof block);
        write(descriptor[0], block, 100);
        pwrite(descriptor[1], block, 100, 200000);
        pwrite(descriptor[1], block, 1000, 300000);
        for (long t = 0; t < 2; t++)
            pthread_create(&threads[t], 0, closer, (void *)t);
        for (int t = 0; t < 2; t++)
            pthread_join(threads[t], 0);
        wrong += real_size("f") != 301000;
    }
    printf("wrong sizes %d\n", wrong);
    return 0;
}
