/* Makes a disk full, or has it not answer or not keep what is written, for one process and as long
 * as a file exists.
 *
 * Loaded with LD_PRELOAD. While the file FAULTY_DISK_FULL exists, nothing can be
 * written to files whose path contains FAULTY_DISK_PART, and nothing is free there.
 * While the file FAULTY_DISK_LOW exists, little is free there.
 * While the file FAULTY_DISK_FROZEN exists, whoever reads one of these files waits, and adds a
 * byte to it. While the file FAULTY_DISK_SLOW exists, the same holds for whoever flushes one. While
 * the file FAULTY_DISK_DEAF exists, none can be flushed. */
#define _GNU_SOURCE
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

#define LITTLE (1024 * 1024)

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

static int is_open_part(int file) {
    char link[64], path[PATH_MAX];
    int error = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = error;
    if (length < 0) return 0;
    path[length] = '\0';
    return is_part(path);
}

static int is_full(int file) { return is_set("FAULTY_DISK_FULL") && is_open_part(file); }

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define WRITER(result, name, parameters, arguments)                \
    result name parameters {                                       \
        if (is_full(file)) {                                       \
            errno = ENOSPC;                                        \
            return -1;                                             \
        }                                                          \
        REAL(name);                                                \
        return real arguments;                                     \
    }

WRITER(ssize_t, write, (int file, const void *bytes, size_t length), (file, bytes, length))
WRITER(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count))
WRITER(ssize_t, pwrite, (int file, const void *bytes, size_t length, off_t at),
       (file, bytes, length, at))
WRITER(ssize_t, pwrite64, (int file, const void *bytes, size_t length, off64_t at),
       (file, bytes, length, at))
WRITER(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t at),
       (file, parts, count, at))
WRITER(ssize_t, pwritev64, (int file, const struct iovec *parts, int count, off64_t at),
       (file, parts, count, at))

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
        if (is_full(file) && grows(file, length)) {                \
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
        if (is_full(file)) return ENOSPC;                          \
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
        }                                                          \
        return outcome;                                            \
    }

TELLER(statvfs)
TELLER(statvfs64)
