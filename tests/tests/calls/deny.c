/* Runs a program under a policy that memory is either written or executed, which it hands on. */
#include "case.h"
#include <sys/prctl.h>

int main(int argc, char **argv)
{
    /* PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN; a kernel without it runs the program as ever. */
    prctl(65, 1L, 0L, 0L, 0L);
    execvp(argv[1], argv + 1);
    return 127;
}
