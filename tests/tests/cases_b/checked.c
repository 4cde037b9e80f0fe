/* Everyday file work, for a program that a sanitizer watches. */
#include "case.h"
static void *work(void *number) {
    char name[16], *b = malloc(100000), *back = malloc(100000);
    snprintf(name, sizeof name, "t%ld", (long)number);
    memset(b, 'a' + (long)number, 100000);
    for (int i = 0; i < 20; i++) {
        int f = MUST(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644));
        MUST(write(f, b, 100000));
        if (MUST(pread(f, back, 100000, 0)) != 100000 || memcmp(b, back, 100000)) puts("differs");
        MUST(close(f));
    }
    free(b);
    free(back);
    return NULL;
}
int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    FILE *s = fopen("s", "w+");
    fprintf(s, "%d lines\n", 1);
    rewind(s);
    char line[32];
    fputs(fgets(line, sizeof line, s), stdout);
    fclose(s);
    fflush(stdout);
    MUST(rename("s", "r"));
    pid_t pid = fork();
    if (!pid) {
        int f = open("r", O_WRONLY | O_APPEND);
        _exit(write(f, "child\n", 6) != 6);
    }
    int status;
    MUST(waitpid(pid, &status, 0));
    printf("child %d\n", status);
    return 0;
}
