cat > $BIN/pl.c <<'X'
#include <fcntl.h>
#include <unistd.h>
#include <string.h>
static int f = -1;
static void put(const char *t) { int g = open("plugin", O_WRONLY | O_CREAT | O_APPEND, 0644); write(g, t, strlen(t)); close(g); if (f >= 0) write(f, t, strlen(t)); }
__attribute__((constructor)) static void in(void) { f = open("kept", O_RDWR | O_CREAT | O_APPEND, 0644); put("loaded\n"); }
__attribute__((destructor)) static void out(void) { put("unloaded\n"); close(f); }
void work(void) { put("work\n"); }
X
cat > $BIN/host.c <<'X'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int c, char **v) { for (int i = 0; i < 3; i++) { void *h = dlopen(v[1], RTLD_NOW); ((void (*)(void))dlsym(h, "work"))(); dlclose(h); } void *k = dlmopen(LM_ID_NEWLM, v[1], RTLD_NOW); if (k) ((void (*)(void))dlsym(k, "work"))(); else puts(dlerror()); dlopen(v[1], RTLD_LAZY); return 0; }
X
gcc -w -shared -fPIC -o $BIN/pl.so $BIN/pl.c; gcc -w -o $BIN/host $BIN/host.c -ldl; $BIN/host $BIN/pl.so; cat plugin kept
cat > $BIN/audit.c <<'X'
unsigned la_version(unsigned v) { return v; }
X
gcc -w -shared -fPIC -o $BIN/audit.so $BIN/audit.c; LD_AUDIT=$BIN/audit.so sh -c 'echo audited > au; cat au'; LD_BIND_NOW=1 sh -c 'echo now >> au; cat au'; LD_PRELOAD="$BIN/pl.so ${LD_PRELOAD:-}" cat au; LD_PRELOAD="${LD_PRELOAD:-} $BIN/pl.so" cat au; cat plugin
