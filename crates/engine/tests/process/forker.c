/* Forks and ends without pause, each time in a session of its own, until a
 * number of seconds has passed: forker LOCK BRANCHES SECONDS. Whoever of it
 * lives holds a lock on the file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || flock(file, LOCK_EX) != 0)
        return 3;
    int branches = atoi(argv[2]);
    time_t end = time(NULL) + atoi(argv[3]);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    for (int branch = 1; branch < branches; branch++)
        if (fork() == 0)
            break;
    while (time(NULL) < end) {
        pid_t child = fork();
        if (child > 0)
            _exit(0);
        if (child == 0)
            setsid();
    }
    return 0;
}
