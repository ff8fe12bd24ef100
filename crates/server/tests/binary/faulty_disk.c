/* Makes a disk full, or has it not answer or not keep what is written, for one process and as long
 * as a file exists.
 *
 * Loaded with LD_PRELOAD. While the file FAULTY_DISK_FULL exists, nothing can be
 * written to files whose path contains FAULTY_DISK_PART, and nothing is free there.
 * While the file FAULTY_DISK_LOW exists, little is free there.
 * While the file FAULTY_DISK_SMALL exists, no file whose path contains FAULTY_DISK_PART grows unless
 * the folder in which it lies holds no more bytes then than that file says.
 * While the file FAULTY_DISK_FROZEN exists, whoever reads one of these files waits, and adds a
 * byte to it. While the file FAULTY_DISK_SLOW exists, the same holds for whoever flushes one. While
 * the file FAULTY_DISK_DEAF exists, none can be flushed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define LITTLE (64 * 1024 * 1024)

static int is_set(const char *variable) {
    const char *flag = getenv(variable);
    int error = errno;
    int set = flag && access(flag, F_OK) == 0;
    errno = error;
    return set;
}

static int is_part(const char *path) {
    const char *part = getenv("FAULTY_DISK_PART");
    return part && strstr(path, part) != NULL;
}

/* Whether it is there, in a PATH_MAX of bytes. */
static int path_of(int file, char *path) {
    char link[64];
    int error = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    errno = error;
    if (length < 0) return 0;
    path[length] = '\0';
    return 1;
}

static int is_open_part(int file) {
    char path[PATH_MAX];
    return path_of(file, path) && is_part(path);
}

static int is_full(int file) { return is_set("FAULTY_DISK_FULL") && is_open_part(file); }

/* What is free in the folder of a file. */
static off64_t left_beside(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    FILE *flag = fopen(getenv("FAULTY_DISK_SMALL"), "r");
    long long left = 0;
    if (!flag || fscanf(flag, "%lld", &left) != 1) left = LLONG_MAX;
    if (flag) fclose(flag);
    DIR *files = opendir(folder);
    for (struct dirent *each; files && (each = readdir(files));) {
        struct stat found;
        if (fstatat(dirfd(files), each->d_name, &found, 0) == 0 && S_ISREG(found.st_mode))
            left -= found.st_size;
    }
    if (files) closedir(files);
    return left < 0 ? 0 : left;
}

/* Whether a file that is to have a length has no room for it. */
static int outgrows(int file, off64_t length) {
    char path[PATH_MAX];
    struct stat now;
    if (!is_set("FAULTY_DISK_SMALL") || !path_of(file, path) || !is_part(path)) return 0;
    if (fstat(file, &now) != 0 || length <= now.st_size) return 0;
    return length - now.st_size > left_beside(path);
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define WRITER(result, name, parameters, arguments, end)           \
    result name parameters {                                       \
        if (is_full(file) || outgrows(file, end)) {                                     \
            errno = ENOSPC;                                        \
            return -1;                                             \
        }                                                          \
        REAL(name);                                                \
        return real arguments;                                     \
    }

WRITER(ssize_t, write, (int file, const void *bytes, size_t length), (file, bytes, length), 0)
WRITER(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count), 0)
WRITER(ssize_t, pwrite, (int file, const void *bytes, size_t length, off_t at),
       (file, bytes, length, at), at + (off64_t)length)
WRITER(ssize_t, pwrite64, (int file, const void *bytes, size_t length, off64_t at),
       (file, bytes, length, at), at + (off64_t)length)
WRITER(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t at),
       (file, parts, count, at), 0)
WRITER(ssize_t, pwritev64, (int file, const struct iovec *parts, int count, off64_t at),
       (file, parts, count, at), 0)

static void wait_while(const char *variable, int file) {
    if (!is_set(variable) || !is_open_part(file)) return;
    int flag = open(getenv(variable), O_WRONLY | O_APPEND);
    if (flag >= 0) {
        if (write(flag, "r", 1) < 0) perror(variable);
        close(flag);
    }
    while (is_set(variable)) usleep(10 * 1000);
}

#define FLUSHER(name)                                              \
    int name(int file) {                                           \
        wait_while("FAULTY_DISK_SLOW", file);                      \
        if (is_set("FAULTY_DISK_DEAF") && is_open_part(file)) {    \
            errno = EIO;                                           \
            return -1;                                             \
        }                                                          \
        REAL(name);                                                \
        return real(file);                                         \
    }

FLUSHER(fsync)
FLUSHER(fdatasync)

#define READER(name, parameters, arguments)                        \
    ssize_t name parameters {                                      \
        wait_while("FAULTY_DISK_FROZEN", file);                    \
        REAL(name);                                                \
        return real arguments;                                     \
    }

READER(read, (int file, void *bytes, size_t length), (file, bytes, length))
READER(pread, (int file, void *bytes, size_t length, off_t at), (file, bytes, length, at))
READER(pread64, (int file, void *bytes, size_t length, off64_t at), (file, bytes, length, at))

static int grows(int file, off64_t length) {
    struct stat now;
    return fstat(file, &now) == 0 && length > now.st_size;
}

#define TRUNCATER(name, type)                                      \
    int name(int file, type length) {                              \
        if ((is_full(file) && grows(file, length)) || outgrows(file, length)) {                \
            errno = ENOSPC;                                        \
            return -1;                                             \
        }                                                          \
        REAL(name);                                                \
        return real(file, length);                                 \
    }

TRUNCATER(ftruncate, off_t)
TRUNCATER(ftruncate64, off64_t)

/* These answer the error. */
#define ALLOCATOR(name, type)                                      \
    int name(int file, type at, type length) {                     \
        if (is_full(file) || outgrows(file, at + length)) return ENOSPC;                         \
        REAL(name);                                                \
        return real(file, at, length);                             \
    }

int posix_fallocate(int, off_t, off_t);
int posix_fallocate64(int, off64_t, off64_t);
ALLOCATOR(posix_fallocate, off_t)
ALLOCATOR(posix_fallocate64, off64_t)

#define TELLER(name)                                               \
    int name(const char *path, struct name *told) {                \
        REAL(name);                                                \
        int outcome = real(path, told);                            \
        if (outcome != 0 || !is_part(path)) return outcome;        \
        if (is_set("FAULTY_DISK_FULL")) {                          \
            told->f_bavail = told->f_bfree = 0;                    \
        } else if (is_set("FAULTY_DISK_LOW")) {                    \
            told->f_bavail = told->f_bfree = LITTLE / told->f_frsize; \
        } else if (is_set("FAULTY_DISK_SMALL")) {                  \
            told->f_bavail = told->f_bfree = left_beside(path) / told->f_frsize; \
        }                                                          \
        return outcome;                                            \
    }

TELLER(statvfs)
TELLER(statvfs64)
