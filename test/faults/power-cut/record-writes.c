/*
 * Loaded into a process (LD_PRELOAD), writes down in what order its writes to a store, its flushes and
 * its lines on standard output happened: what a disk has seen, and what others were promised.
 *
 * WRITES_OF names the folder, whose data.mdb is followed, WRITES_LOG the file to write down to. Each record: kind
 * (2 bytes), offset (8 bytes), length (8 bytes), then the bytes of a write or line. Kinds: w write that begins, d the
 * same write, synchronous and done, s start of a flush, f end of a flush, t truncation, a line on standard output.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;

static void put(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t done = REAL(write)(log_fd, at, length);
    if (done <= 0) abort();
    at += done;
    length -= (size_t)done;
  }
}

static void note(char kind, int64_t offset, const struct iovec *parts, int count, int64_t length) {
  pthread_mutex_lock(&lock);
  if (log_fd < 0) log_fd = REAL(open)(getenv("WRITES_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  char head[18] = {kind, 0};
  memcpy(head + 2, &offset, 8);
  memcpy(head + 10, &length, 8);
  put(head, sizeof head);
  for (int at = 0; at < count; at++) put(parts[at].iov_base, parts[at].iov_len);
  pthread_mutex_unlock(&lock);
}

static int is_data(int fd) {
  const char *folder = getenv("WRITES_OF");
  char link[64], path[4096], wanted[4096];
  if (folder == NULL || fd == log_fd) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  snprintf(wanted, sizeof wanted, "%s/data.mdb", folder);
  return strcmp(path, wanted) == 0;
}

/* Noted before it happens: from then on any part of it may be on disk. A synchronous one is there when it is done. */
static int64_t begin(const struct iovec *parts, int count, off_t offset) {
  int64_t length = 0;
  for (int at = 0; at < count; at++) length += (int64_t)parts[at].iov_len;
  note('w', offset, parts, count, length);
  return length;
}
static ssize_t end(int fd, off_t offset, int64_t length, ssize_t result) {
  if (result != length) abort(); /* not what is to be studied here */
  if (fcntl(fd, F_GETFL) & (O_DSYNC | O_SYNC)) note('d', offset, NULL, 0, length);
  return result;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  if (!is_data(fd)) return REAL(pwritev)(fd, parts, count, offset);
  int64_t length = begin(parts, count, offset);
  return end(fd, offset, length, REAL(pwritev)(fd, parts, count, offset));
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  return pwritev(fd, parts, count, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  struct iovec part = {(void *)bytes, length};
  if (!is_data(fd)) return REAL(pwrite)(fd, bytes, length, offset);
  begin(&part, 1, offset);
  return end(fd, offset, (int64_t)length, REAL(pwrite)(fd, bytes, length, offset));
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  return pwrite(fd, bytes, length, offset);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (!is_data(fd)) return REAL(writev)(fd, parts, count);
  off_t offset = lseek(fd, 0, SEEK_CUR);
  int64_t length = begin(parts, count, offset);
  return end(fd, offset, length, REAL(writev)(fd, parts, count));
}
ssize_t write(int fd, const void *bytes, size_t length) {
  struct iovec part = {(void *)bytes, length};
  if (is_data(fd)) return writev(fd, &part, 1);
  if (fd == 1 && getenv("WRITES_OF") != NULL) note('a', 0, &part, 1, (int64_t)length);
  return REAL(write)(fd, bytes, length);
}
static int flushed(int fd, int (*real)(int)) {
  if (!is_data(fd)) return real(fd);
  note('s', 0, NULL, 0, 0);
  int result = real(fd);
  if (result == 0) note('f', 0, NULL, 0, 0);
  return result;
}
int fdatasync(int fd) { return flushed(fd, REAL(fdatasync)); }
int fsync(int fd) { return flushed(fd, REAL(fsync)); }
int ftruncate(int fd, off_t length) {
  if (is_data(fd)) note('t', 0, NULL, 0, length);
  return REAL(ftruncate)(fd, length);
}
int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }
