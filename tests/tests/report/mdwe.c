/* Executes its arguments in a process that may not make code writable, nor what was written executable; 77 where the kernel cannot do that. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int main(int argc, char **argv)
{
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		return 77;
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
