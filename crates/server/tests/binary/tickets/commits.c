/* Kills a process between two commits of SQLite.
 *
 * Loaded with LD_PRELOAD. While the file COMMITS_KILL exists, commits to files whose name ends
 * in "-wal" are counted, and the process dies when it begins to write after as many as the file
 * says. Such a file has a header, and frames of 24 bytes and a page. The last frame of a
 * transaction tells the size of the database in its second word. One write holds many frames. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define HEADER 32
#define FRAME (24 + 4096)

static long commits;

static int is_log(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 4) return 0;
    path[length] = '\0';
    return strcmp(path + length - 4, "-wal") == 0;
}

static void look(int file, const unsigned char *bytes, size_t length, off64_t at) {
    if (!is_log(file)) return;
    const char *name = getenv("COMMITS_KILL");
    FILE *told = name ? fopen(name, "r") : NULL;
    if (!told) {
        commits = 0;
        return;
    }
    long last = -1;
    if (fscanf(told, "%ld", &last) == 1 && commits >= last) kill(getpid(), SIGKILL);
    fclose(told);
    off64_t before = at > HEADER ? (at - HEADER + FRAME - 1) / FRAME : 0;
    for (off64_t frame = HEADER + before * FRAME; frame + 8 <= at + (off64_t)length; frame += FRAME) {
        const unsigned char *size = bytes + (frame - at) + 4;
        if (size[0] | size[1] | size[2] | size[3]) commits++;
    }
}

#define WRITER(name, type)                                             \
    ssize_t name(int file, const void *bytes, size_t length, type at) { \
        int error = errno;                                             \
        look(file, bytes, length, at);                                 \
        errno = error;                                                 \
        __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
        return real(file, bytes, length, at);                          \
    }

WRITER(pwrite, off_t)
WRITER(pwrite64, off64_t)
