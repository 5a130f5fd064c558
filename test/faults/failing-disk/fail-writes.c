/*
 * Loaded into a process (LD_PRELOAD), lets its writes to a store, or the flushes of it, fail as those of a broken disk
 * do: with EIO. FAIL_OF names the folder whose data.mdb is on that disk, FAIL_WHAT a file that says what fails at the
 * moment: "write", "flush", or nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static int is_data(int fd) {
  const char *folder = getenv("FAIL_OF");
  char link[64], path[4096], wanted[4096];
  if (folder == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  snprintf(wanted, sizeof wanted, "%s/data.mdb", folder);
  return strcmp(path, wanted) == 0;
}

static int fails(int fd, const char *what) {
  char said[16] = {0};
  if (!is_data(fd)) return 0;
  int file = REAL(open)(getenv("FAIL_WHAT"), O_RDONLY);
  if (file < 0) return 0;
  ssize_t length = read(file, said, sizeof said - 1);
  close(file);
  if (length <= 0 || strcmp(said, what) != 0) return 0;
  errno = EIO;
  return 1;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return fails(fd, "write") ? -1 : REAL(pwritev)(fd, parts, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  return pwritev(fd, parts, count, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  return fails(fd, "write") ? -1 : REAL(pwrite)(fd, bytes, length, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) { return pwrite(fd, bytes, length, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
  return fails(fd, "write") ? -1 : REAL(writev)(fd, parts, count);
}
ssize_t write(int fd, const void *bytes, size_t length) {
  return fails(fd, "write") ? -1 : REAL(write)(fd, bytes, length);
}
int fdatasync(int fd) { return fails(fd, "flush") ? -1 : REAL(fdatasync)(fd); }
int fsync(int fd) { return fails(fd, "flush") ? -1 : REAL(fsync)(fd); }
