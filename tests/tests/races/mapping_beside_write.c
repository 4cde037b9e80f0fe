/* A file is mapped while another thread writes to it: once the write has returned, the mapping has it. */
#include "race.h"

static pthread_barrier_t both;
static int f, delay;
static volatile char *map;
static char zeros[8192];

static void *writer(void *unused)
{
    char block[100];
    memset(block, 'N', sizeof block);
    pthread_barrier_wait(&both);
    pwrite(f, block, sizeof block, 4096);
    return unused;
}

static void *mapper(void *unused)
{
    pthread_barrier_wait(&both);
    for (volatile int i = 0; i < delay; i++)
        ;
    map = mmap(0, sizeof zeros, PROT_READ, MAP_SHARED, f, 0);
    return unused;
}

int main(void)
{
    enum { ROUNDS = 600 };
    int wrong = 0;
    pthread_barrier_init(&both, 0, 2);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t threads[2];
        delay = i % 250 * 1000;
        f = open("f", O_CREAT | O_RDWR | O_TRUNC, 0644);
        write(f, zeros, sizeof zeros);
        pthread_create(&threads[0], 0, writer, 0);
        pthread_create(&threads[1], 0, mapper, 0);
        pthread_join(threads[0], 0);
        pthread_join(threads[1], 0);
        wrong += map[4096] != 'N';
        munmap((void *)map, sizeof zeros);
        close(f);
        unlink("f");
    }
    printf("mappings without a finished write %d\n", wrong);
    return 0;
}
