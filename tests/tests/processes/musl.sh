cat > $BIN/m.c <<'X'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int c, char **v) { FILE *f = fopen("m", "a"); fprintf(f, "musl %d\n", c); fclose(f); write(5, "five\n", 5); if (c > 1) return system("echo sh >> m; cat m"); return 0; }
X
musl-gcc -o $BIN/m $BIN/m.c
exec 5> five; echo start >&5; $BIN/m; $BIN/m x; env $BIN/m; python3 -c "import subprocess,sys; print(subprocess.run(['$BIN/m']).returncode)"; echo end >&5; cat five m
