/* Programs that take their environment away before they execute another. */
#include "case.h"
extern char **environ;
static int run(int how) {
    pid_t p = fork();
    if (p) {
        int s;
        waitpid(p, &s, 0);
        return s;
    }
    char *args[] = {"sh", "-c",
                    "echo \"$0 $LD_LIBRARY_PATH\" >>log; cat log | wc -l >>lines; echo to five >&5", NULL};
    char name[16];
    sprintf(name, "%d", how);
    char *with[] = {"sh", args[1], args[2], name, NULL}, *own[] = {"A=b", "PATH=/bin:/usr/bin", NULL},
         *none[] = {NULL};
    switch (how) {
    case 0: execve("/bin/sh", with, NULL); break;
    case 1: execve("/bin/sh", with, none); break;
    case 2: execve("/bin/sh", with, own); break;
    case 3:
        clearenv();
        setenv("PATH", "/bin:/usr/bin", 1);
        execvp("sh", with);
        break;
    case 4:
        unsetenv("LD_PRELOAD");
        execvp("sh", with);
        break;
    case 5:
        setenv("LD_PRELOAD", "", 1);
        execvp("sh", with);
        break;
    case 6:
        putenv("LD_PRELOAD=/nonexistent.so");
        execvp("sh", with);
        break;
    case 7:
        environ = own;
        execv("/bin/sh", with);
        break;
    case 8:
        environ = NULL;
        execv("/bin/sh", with);
        break;
    case 9: execle("/bin/sh", "sh", args[1], args[2], name, NULL, own); break;
    case 10:
        clearenv();
        system("echo system >>log; echo to five >&5");
        _exit(0);
    case 11: {
        clearenv();
        FILE *q = popen("cat >>log", "w");
        fputs("popen\n", q);
        pclose(q);
        _exit(0);
    }
    }
    _exit(99);
}
int main(void) {
    int f = open("five", O_RDWR | O_CREAT | O_TRUNC, 0644);
    dup2(f, 5);
    write(5, "begun\n", 6);
    for (int how = 0; how < 12; how++) {
        printf("%d: %x\n", how, run(how));
        fflush(stdout);
        write(f, "-\n", 2);
    }
    return 0;
}
