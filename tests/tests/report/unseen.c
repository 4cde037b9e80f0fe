/* What libc does with descriptors by itself, between calls of the program's own on the same file. Each part checks its bytes. */
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <ftw.h>
#include <pty.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

extern char **environ;

#define CHECK(what) do { if (!(what)) { fprintf(stderr, "%s:%d: %s\n", part, __LINE__, #what); exit(1); } } while (0)
static const char *part;

static void holds(const char *name, const char *wanted)
{
	char text[256];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);
	CHECK(n >= 0);
	text[n] = 0;
	if (strcmp(text, wanted)) {
		fprintf(stderr, "%s: %s holds \"%s\", not \"%s\"\n", part, name, text, wanted);
		exit(1);
	}
	close(fd);
}

static int fresh(const char *name, int flags)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | flags, 0644);
	CHECK(fd > 2);
	return fd;
}

static int say(int fd, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	int n = vdprintf(fd, format, list);
	va_end(list);
	return n;
}

static void run(pid_t child)
{
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static off_t walked;

static int each(const char *path, const struct stat *s, int kind, struct FTW *f)
{
	if (!strcmp(path, "./walk"))
		walked = s->st_size;
	return 0;
}

int main(void)
{
	for (int pass = 0; pass < 2; pass++) {
		int flag = pass ? O_CLOEXEC : 0;

		part = "fdopen";
		int fd = fresh("stream", flag);
		CHECK(write(fd, "one ", 4) == 4);
		FILE *f = fdopen(fd, "r+");
		CHECK(fseek(f, 0, SEEK_CUR) == 0 && fputs("two ", f) >= 0 && fflush(f) == 0);
		CHECK(write(fileno(f), "three", 5) == 5);
		holds("stream", "one two three");
		CHECK(fclose(f) == 0);
		/* The number is another file's now. */
		int again = fresh("again", flag);
		CHECK(again == fd && write(again, "x", 1) == 1 && close(again) == 0);
		holds("stream", "one two three");
		holds("again", "x");

		part = "dprintf";
		fd = fresh("printed", flag);
		CHECK(write(fd, "a", 1) == 1);
		CHECK(dprintf(fd, "%d %.2f %s %ld %d %d %d|", 1, 2.5, "three", 4L, 5, 6, 7) == 21);
		CHECK(say(fd, "%s", "b") == 1 && write(fd, "c", 1) == 1);
		holds("printed", "a1 2.50 three 4 5 6 7|bc");
		close(fd);

		part = "fopen";
		fd = fresh("both", flag);
		CHECK(write(fd, "written", 7) == 7);
		f = fopen("both", "r");
		char text[64] = "";
		CHECK(f && fgets(text, 64, f) && !strcmp(text, "written"));
		CHECK(pwrite(fd, "W", 1, 0) == 1);
		fclose(f);
		f = fopen("both", "w");
		CHECK(f && fputs("new", f) >= 0 && fclose(f) == 0);
		CHECK(lseek(fd, 0, SEEK_END) == 3 && pread(fd, text, 64, 0) == 3 && !memcmp(text, "new", 3));
		f = fopen("both", "a");
		CHECK(f && fputs("er", f) >= 0 && fclose(f) == 0);
		holds("both", "newer");
		close(fd);

		part = "freopen";
		f = fopen("first", "w");
		CHECK(f && fputs("1", f) >= 0);
		f = freopen("second", "w", f);
		CHECK(f && fputs("2", f) >= 0 && fclose(f) == 0);
		holds("first", "1");
		holds("second", "2");

		part = "aio";
		fd = fresh("asked", flag);
		CHECK(write(fd, "....", 4) == 4);
		struct aiocb request = { .aio_fildes = fd, .aio_buf = "mid", .aio_nbytes = 3, .aio_offset = 1 };
		const struct aiocb *wait[] = { &request };
		CHECK(aio_write(&request) == 0 && aio_suspend(wait, 1, 0) == 0 && aio_return(&request) == 3);
		CHECK(write(fd, "end", 3) == 3);
		holds("asked", ".midend");
		close(fd);

		part = "spawn";
		fd = fresh("spawned", flag);
		CHECK(write(fd, "parent ", 7) == 7);
		char *argv[] = { "sh", "-c", "printf 'child '", 0 };
		posix_spawn_file_actions_t actions;
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, fd, 1);
		pid_t child;
		CHECK(posix_spawnp(&child, "sh", &actions, 0, argv, environ) == 0);
		run(child);
		CHECK(write(fd, "again", 5) == 5);
		holds("spawned", "parent child again");
		close(fd);

		part = "system";
		fd = fresh("inherited", 0);
		CHECK(write(fd, "one ", 4) == 4);
		char line[64];
		sprintf(line, "printf 'two ' >&%d", fd);
		CHECK(system(line) == 0);
		CHECK(write(fd, "three", 5) == 5);
		holds("inherited", "one two three");
		close(fd);

		part = "execlp";
		fd = fresh("execed", flag);
		CHECK((child = fork()) >= 0);
		if (child == 0) {
			CHECK(write(fd, "child ", 6) == 6 && dup2(fd, 1) == 1);
			execlp("sh", "sh", "-c", "printf 'program '", (char *)0);
			_exit(9);
		}
		run(child);
		CHECK(write(fd, "parent", 6) == 6);
		holds("execed", "child program parent");
		close(fd);

		part = "vfork";
		fd = fresh("vforked", flag);
		CHECK(write(fd, "parent ", 7) == 7);
		if ((child = vfork()) == 0) {
			dup2(fd, 1);
			execvp("sh", argv);
			_exit(9);
		}
		run(child);
		CHECK(write(fd, "again", 5) == 5);
		holds("vforked", "parent child again");
		close(fd);

		part = "forkpty";
		fd = fresh("terminal", flag);
		CHECK(write(fd, "parent ", 7) == 7);
		int master;
		CHECK((child = forkpty(&master, 0, 0, 0)) >= 0);
		if (child == 0) {
			if (write(fd, "child ", 6) != 6)
				_exit(8);
			_exit(0);
		}
		run(child);
		CHECK(write(fd, "again", 5) == 5);
		holds("terminal", "parent child again");
		close(master);
		close(fd);

		part = "nftw";
		fd = fresh("walk", flag);
		CHECK(write(fd, "123", 3) == 3 && write(fd, "4567", 4) == 4);
		CHECK(nftw(".", each, 8, FTW_PHYS) == 0 && walked == 7);
		close(fd);

		part = "dup";
		fd = fresh("copied", flag);
		CHECK(write(fd, "one ", 4) == 4);
		int keep = dup(1);
		CHECK(dup2(fd, 1) == 1 && printf("two ") == 4 && fflush(stdout) == 0);
		CHECK(write(fd, "three", 5) == 5);
		CHECK(dup2(keep, 1) == 1);
		close(keep);
		close(fd);
		holds("copied", "one two three");

		part = "daemon";
		fd = fresh("daemon", flag);
		CHECK(write(fd, "before ", 7) == 7);
		CHECK((child = fork()) >= 0);
		if (child == 0) {
			if (daemon(1, 0) || write(fd, "daemon", 6) != 6)
				_exit(7);
			_exit(0);
		}
		run(child);
		for (int i = 0; i < 500 && lseek(fd, 0, SEEK_CUR) != 13; i++)
			usleep(10000);
		holds("daemon", "before daemon");
		close(fd);
	}
	part = "exit";
	puts("done");
	/* Left open and unflushed: libc ends the process. */
	int fd = fresh("left", O_CLOEXEC);
	for (int i = 0; i < 5; i++)
		CHECK(write(fd, "left ", 5) == 5);
	return 0;
}
