/* An allocator whose first call opens and reads a file under a lock, as real ones read their settings. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next, *end;
static int started, settings_seen;

static void start(void)
{
    char text[16] = "", link[64];
    int saved = errno;
    started = 1;
    int f = open("settings", O_RDONLY);
    if (f >= 0) {
        if (read(f, text, sizeof text - 1) == 9 && memcmp(text, "settings\n", 9) == 0)
            settings_seen = 1;
        lseek(f, 0, SEEK_SET);
        if (pread(f, text, 3, 3) != 3 || memcmp(text, "tin", 3) != 0)
            settings_seen = 2;
        void *map = mmap(NULL, 9, PROT_READ, MAP_PRIVATE, f, 0);
        if (map == MAP_FAILED || memcmp(map, "settings", 8) != 0)
            settings_seen = 3;
        close(f);
    }
    readlink("/etc/malloc.conf", link, sizeof link);
    errno = saved;
}

static void *take(size_t size, size_t align)
{
    pthread_mutex_lock(&lock);
    if (!started)
        start();
    size_t need = size + align + 32;
    if (next == NULL || next + need > end) {
        size_t chunk = need > 1 << 20 ? need + 4096 : 1 << 20;
        next = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        end = next + chunk;
    }
    char *at = (char *)(((size_t)next + 16 + align - 1) & ~(align - 1));
    ((size_t *)at)[-1] = size;
    next = at + size;
    pthread_mutex_unlock(&lock);
    return at;
}

void *malloc(size_t size) { return take(size, 16); }
void free(void *at) { (void)at; }
void *calloc(size_t count, size_t size) { return take(count * size, 16); }
void *memalign(size_t align, size_t size) { return take(size, align < 16 ? 16 : align); }
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void **out, size_t align, size_t size) { return *out = memalign(align, size), 0; }
void *realloc(void *at, size_t size)
{
    void *moved = take(size, 16);
    if (at != NULL) {
        size_t old = ((size_t *)at)[-1];
        memcpy(moved, at, old < size ? old : size);
    }
    return moved;
}
int early_settings(void) { return settings_seen; }
