// Writers at the end of a program: handlers, destructors, keys, and a thread that nobody waits for.
#include "case.h"
#include <atomic>
extern "C" int late_is_here();
static void line(const char *text) {
    int f = open("f", O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (f < 0 || write(f, text, strlen(text)) != (ssize_t)strlen(text)) _exit(9);
    close(f);
}
struct Global {
    ~Global() { line("global\n"); }
};
static Global global;
static thread_local struct Local {
    int used = 0;
    ~Local() { line("thread local\n"); }
} local;
static void at_exit() { line("atexit\n"); }
static void of_key(void *) { line("key\n"); }
static pthread_key_t key;
static FILE *left_open;
static std::atomic<int> rounds;
static void *ended(void *) {
    pthread_setspecific(key, &key);
    local.used = 1;
    return nullptr;
}
static void *writes_on(void *) {
    for (;;) {
        int f = open("g", O_WRONLY | O_CREAT, 0644);
        if (pwrite(f, "on and on", 9, 0) != 9) _exit(8);
        close(f);
        rounds++;
    }
}
int main() {
    if (!late_is_here()) return 1;
    atexit(at_exit);
    pthread_key_create(&key, of_key);
    pthread_t a, b;
    pthread_create(&a, nullptr, ended, nullptr);
    pthread_join(a, nullptr);
    pthread_create(&b, nullptr, writes_on, nullptr);
    pthread_detach(b);
    while (rounds < 20) usleep(1000);
    left_open = fopen("h", "w");
    fputs("never closed\n", left_open);
    fputs("standard output\n", stdout);
    local.used = 1;
    return 0;
}
