#include <fcntl.h>
#include <unistd.h>
#include <fstream>
#include <thread>
#include <cstdlib>
static int f = -1;
struct G {
    const char *n;
    std::ofstream o;
    G(const char *n) : n(n), o(std::string("o_") + n) { o << "born " << n << "\n"; }
    ~G() {
        o << "gone " << n << "\n";
        int g = open("order", O_WRONLY | O_CREAT | O_APPEND, 0644);
        dprintf(g, "%s\n", n);
        close(g);
    }
};
static G g1("g1"), g2("g2");
static thread_local G *p;
thread_local G tl("tl");
int main(int c, char **v) {
    std::thread([] { tl.o << "use\n"; }).join();
    std::ofstream s("stream");
    for (int i = 0; i < 1000; i++) s << i << "\n";
    static G st("st");
    if (c > 1) std::exit(0);
}
