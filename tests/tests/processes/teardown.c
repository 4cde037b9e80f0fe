/* The last writes of a program, from every corner of its end. */
#include "case.h"
#include <pthread.h>
#include <sys/syscall.h>
static int f;
static const char *how;
static void put(const char *t) {
    int n = strlen(t);
    if (write(f, t, n) != n) _exit(9);
    int g = open("late", O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (g < 0 || write(g, t, n) != n || close(g)) _exit(8);
}
static void ae(void) { put("atexit\n"); }
static void qe(void) { put("at_quick_exit\n"); }
static void key_gone(void *p) { put("key\n"); }
__attribute__((destructor)) static void d1(void) { put("destructor\n"); }
__attribute__((destructor(101))) static void d2(void) { put("late destructor\n"); }
static void fini(void) { put("fini_array\n"); }
__attribute__((section(".fini_array"), used)) static void (*fa)(void) = fini;
static void onsig(int s) {
    put("handler\n");
    if (!strcmp(how, "exit_handler")) exit(0);
    if (!strcmp(how, "_exit_handler")) _exit(0);
}
static void *thr(void *a) {
    pthread_key_t k;
    pthread_key_create(&k, key_gone);
    pthread_setspecific(k, "x");
    if (!strcmp(how, "main_exits")) usleep(50000);
    put("thread\n");
    if (!strcmp(how, "exit_thread")) exit(0);
    if (!strcmp(how, "_exit_thread")) _exit(0);
    if (!strcmp(how, "main_exits")) {
        usleep(100000);
        put("after main\n");
    }
    if (!strcmp(how, "exec_thread")) execl("/bin/sh", "sh", "-c", "echo from sh >>late", NULL);
    if (!strcmp(how, "quick_thread")) quick_exit(0);
    return 0;
}
static void *forever(void *a) {
    for (int i = 0;; i++) pwrite(f, "D", 1, 4000 + i % 100);
}
int main(int c, char **v) {
    how = v[1];
    f = open(how, O_RDWR | O_CREAT | O_TRUNC, 0644);
    atexit(ae);
    at_quick_exit(qe);
    put("main\n");
    struct sigaction sa = {0};
    sa.sa_handler = onsig;
    sigaction(SIGUSR1, &sa, 0);
    if (!strcmp(how, "return")) return 0;
    if (!strcmp(how, "exit")) exit(0);
    if (!strcmp(how, "quick")) quick_exit(0);
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "_Exit")) _Exit(0);
    if (!strcmp(how, "exit_group")) syscall(SYS_exit_group, 0);
    if (!strcmp(how, "sys_exit")) syscall(SYS_exit, 0);
    if (strstr(how, "_handler")) {
        if (!strncmp(how, "abort", 5)) {
            sigaction(SIGABRT, &sa, 0);
            abort();
        }
        raise(SIGUSR1);
    }
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "segv")) *(volatile int *)8 = 1;
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "term")) kill(getpid(), SIGTERM);
    if (!strcmp(how, "tgkill")) syscall(SYS_tgkill, getpid(), getpid(), SIGXCPU);
    if (!strcmp(how, "vfork")) {
        pid_t p = vfork();
        if (!p) _exit(3);
        int s;
        waitpid(p, &s, 0);
        put("after vfork\n");
        return 0;
    }
    if (!strcmp(how, "detached")) {
        pthread_t t;
        pthread_create(&t, 0, forever, 0);
        pthread_detach(t);
        usleep(30000);
        return 0;
    }
    pthread_t t;
    pthread_create(&t, 0, thr, 0);
    if (!strcmp(how, "main_exits")) {
        put("main leaves\n");
        pthread_exit(0);
    }
    pthread_join(t, 0);
    put("joined\n");
    return 0;
}
