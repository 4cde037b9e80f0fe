// A library whose destructor is the last to write.
#include "case.h"
struct Late {
    ~Late() {
        int f = open("f", O_WRONLY | O_APPEND | O_CREAT, 0644);
        if (f >= 0 && write(f, "library\n", 8) == 8) close(f);
    }
};
static Late late;
extern "C" int late_is_here() { return 1; }
__attribute__((destructor)) static void last() {
    FILE *s = fopen("f", "a");
    if (s) {
        fputs("destructor of the library\n", s);
        fclose(s);
    }
}
