/* One process that does what its first argument says, in the current directory, and ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>

static int make(const char *name, int n)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	char byte = 'x';
	for (int i = 0; i < n; i++)
		if (write(fd, &byte, 1) != 1)
			exit(10);
	return fd;
}

int main(int argc, char **argv)
{
	const char *deed = argc > 1 ? argv[1] : "";
	char buf[64];
	if (!strcmp(deed, "plain")) {
		/* 40 bytes written, 40 read. */
		int fd = make("plain", 40);
		if (pread(fd, buf, 64, 0) != 40)
			return 11;
	} else if (!strcmp(deed, "hold")) {
		/* As above, and stays until it is told to go. */
		int fd = make("hold", 40);
		if (pread(fd, buf, 64, 0) != 40)
			return 12;
		puts("ready");
		fflush(stdout);
		if (read(0, buf, 1) < 0)
			return 13;
	} else if (!strcmp(deed, "map")) {
		/* Direct by a mapping: three writes and two reads are the kernel's. */
		int fd = make("map", 10);
		if (mmap(0, 10, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
			return 14;
		for (int i = 0; i < 3; i++)
			if (pwrite(fd, "y", 1, i) != 1)
				return 15;
		for (int i = 0; i < 2; i++)
			if (pread(fd, buf, 1, i) != 1 || buf[0] != 'y')
				return 16;
	} else if (!strcmp(deed, "ring")) {
		struct io_uring_params p = { 0 };
		make("ring", 5);
		/* Whether the kernel allows one is not the question. */
		syscall(SYS_io_uring_setup, 1, &p);
	} else if (!strcmp(deed, "filter")) {
		struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
		struct sock_fprog program = { 1, all };
		make("filter", 5);
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			return 17;
	} else if (!strcmp(deed, "strict")) {
		make("strict", 5);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			return 18;
		syscall(SYS_exit, 0);
	} else if (!strcmp(deed, "moved")) {
		/* Standard error becomes a data file: its bytes are nobody else's. */
		close(2);
		if (make("moved", 5) != 2)
			return 19;
	} else if (!strcmp(deed, "closed")) {
		make("closed", 5);
		close(2);
	} else if (!strcmp(deed, "abort")) {
		make("abort", 5);
		signal(SIGABRT, SIG_DFL);
		abort();
	} else if (!strcmp(deed, "vfork")) {
		make("vfork", 5);
		pid_t child = vfork();
		if (child == 0) {
			execl(argv[2], argv[2], "true", (char *)0);
			_exit(20);
		}
		int status;
		if (waitpid(child, &status, 0) != child || status)
			return 21;
	} else if (!strcmp(deed, "fail")) {
		/* Programs that are not started are not counted. */
		char *none[] = { 0 };
		make("fail", 5);
		if (execve("/dev/null", none, none) != -1 || execve("/nowhere", none, none) != -1 || errno != ENOENT)
			return 22;
		if (execve((char *)16, none, none) != -1 || errno != EFAULT)
			return 23;
		if (execve("not-executable", none, none) != -1 || errno != EACCES)
			return 24;
		if (execve("damaged", none, none) != -1 || errno != ENOEXEC)
			return 25;
	} else {
		return 99;
	}
	return 0;
}
