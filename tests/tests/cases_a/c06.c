/* Streams and calls that libc makes by itself. */
#include "case.h"
#include <dirent.h>

static void streams(void)
{
    char line[64], all[256] = "";
    FILE *f = fopen("mixed", "w+");
    fprintf(f, "one\n");
    SAME(fflush(f), 0);
    SAME(write(fileno(f), "two\n", 4), 4);
    SAME(fseek(f, 0, SEEK_END), 0);
    SAME(ftell(f), 8);
    fprintf(f, "three\n");
    rewind(f);
    while (fgets(line, sizeof line, f) != NULL)
        strcat(all, line);
    CHECK(strcmp(all, "one\ntwo\nthree\n") == 0);
    SAME(fclose(f), 0);

    f = fopen64("mixed", "a+");
    SAME(fputs("four\n", f), 1);
    SAME(fseeko64(f, 4, SEEK_SET), 0);
    char *text = NULL;
    size_t room = 0;
    SAME(getline(&text, &room, f), 4);
    CHECK(strcmp(text, "two\n") == 0);
    SAME(fprintf(f, "five\n"), 5);
    SAME(fclose(f), 0);
    f = fdopen(open("mixed", O_RDONLY), "r");
    setvbuf(f, NULL, _IONBF, 0);
    SAME(fread(all, 1, sizeof all, f), 24);
    CHECK(memcmp(all, "one\ntwo\nthree\nfour\nfive\n", 24) == 0);
    SAME(fgetc(f), EOF);
    SAME(fclose(f), 0);
}

static void temporary_files(void)
{
    char name[] = "made-XXXXXX", suffixed[] = "made-XXXXXX.txt";
    int f = mkostemp(name, O_APPEND);
    SAME(write(f, "by name", 7), 7);
    int again = open(name, O_RDONLY);
    BYTES_AT(again, 0, "by name");
    SAME(unlink(name), 0);
    int s = mkstemps(suffixed, 4);
    SAME(write(s, "suffixed", 8), 8);
    FILE *stream = fopen(suffixed, "r");
    char text[16] = "";
    CHECK(fgets(text, sizeof text, stream) != NULL && strcmp(text, "suffixed") == 0);
    SAME(unlink(suffixed), 0);
    FILE *nameless = tmpfile();
    CHECK(nameless != NULL);
    fprintf(nameless, "%d", 12345);
    rewind(nameless);
    int number = 0;
    SAME(fscanf(nameless, "%d", &number), 1);
    SAME(number, 12345);
    /* A file with no name in the directory of the store. */
    int hidden = open(".", O_TMPFILE | O_RDWR, 0600);
    if (hidden >= 0) {
        SAME(write(hidden, "hidden", 6), 6);
        BYTES_AT(hidden, 0, "hidden");
        SAME(lseek(hidden, 0, SEEK_END), 6);
    }
}

static void listing(void)
{
    DIR *dir = opendir(".");
    int found = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        found += strcmp(entry->d_name, "mixed") == 0;
    SAME(found, 1);
    SAME(closedir(dir), 0);
}

static void once_after_fork(void)
{
    FILE *f = fopen("forked", "w");
    fprintf(f, "before ");
    SAME(fflush(f), 0);
    pid_t child = fork();
    if (child == 0) {
        fprintf(f, "child ");
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    SAME(status, 0);
    fprintf(f, "parent");
    SAME(fclose(f), 0);
    char text[64] = "";
    f = fopen("forked", "r");
    CHECK(fgets(text, sizeof text, f) != NULL && strcmp(text, "before child parent") == 0);
    SAME(fclose(f), 0);
}

int main(void)
{
    streams();
    temporary_files();
    listing();
    once_after_fork();
    CHECK(freopen("stdout.txt", "w", stdout) == stdout);
    printf("into the file\n");
    SAME(fflush(stdout), 0);
    SAME(system("cat stdout.txt > early; printf 'by child\\n' >> stdout.txt"), 0);
    CHECK(freopen64("stdout.txt", "a", stdout) == stdout);
    puts("and more");
    SAME(fflush(stdout), 0);
    return 0;
}
