cat > $BIN/p.c <<'X'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
static void *w(void *a) { char n[8]; sprintf(n, "t%ld", (long)a); int f = open(n, O_RDWR | O_CREAT | O_TRUNC, 0644); for (int i = 0; i < 100; i++) write(f, n, 2); char *b = malloc(200); pread(f, b, 200, 0); write(1, b, 6); free(b); close(f); return 0; }
int main(void) { pthread_t t[3]; for (long i = 0; i < 3; i++) { pthread_create(&t[i], 0, w, (void *)i); pthread_join(t[i], 0); } FILE *f = fopen("s", "w+"); fprintf(f, "hello %d\n", 7); fflush(f); rewind(f); char b[64]; fgets(b, 64, f); fputs(b, stdout); fflush(stdout); if (!fork()) { fprintf(f, "child\n"); exit(0); } wait(0); fclose(f); return system("cat s t0 | wc -c"); }
X
for s in address undefined thread leak; do gcc -w -g -fsanitize=$s -o $BIN/p_$s $BIN/p.c -pthread; echo $s; setarch -R $BIN/p_$s 2> $BIN/err || { echo "failed $?"; head -n 3 $BIN/err >&2; }; done
gcc -w -static-pie -o $BIN/p_sp $BIN/p.c -pthread; $BIN/p_sp; gcc -w -Wl,-z,now -o $BIN/p_now $BIN/p.c -pthread; $BIN/p_now
