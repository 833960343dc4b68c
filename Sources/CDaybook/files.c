// Large files on 32-bit systems, and the calls that glibc hides otherwise.
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "CDaybook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// The most bytes in one call: some systems cut larger ones.
#define CALL_LIMIT ((size_t)1 << 30)

int daybook_open(const char *path, int mode) {
  int flags = O_CLOEXEC | ((mode & 1) ? O_RDWR : O_RDONLY);
  if (mode & 2) flags |= O_CREAT;
  if (mode & 4) flags |= O_EXCL;
  for (;;) {
    int descriptor = open(path, flags, 0644);
    if (descriptor >= 0) return descriptor;
    if (errno != EINTR) return -errno;
  }
}

int daybook_close(int descriptor) { return close(descriptor) == 0 || errno == EINTR ? 0 : -errno; }

int64_t daybook_read(int descriptor, void *bytes, size_t count, uint64_t offset) {
  size_t done = 0;
  while (done < count) {
    size_t part = count - done < CALL_LIMIT ? count - done : CALL_LIMIT;
    ssize_t got = pread(descriptor, (char *)bytes + done, part, (off_t)(offset + done));
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      return -errno;
    }
    done += (size_t)got;
  }
  return (int64_t)done;
}

int64_t daybook_write(int descriptor, const void *bytes, size_t count, uint64_t offset) {
  size_t done = 0;
  while (done < count) {
    size_t part = count - done < CALL_LIMIT ? count - done : CALL_LIMIT;
    ssize_t put = pwrite(descriptor, (const char *)bytes + done, part, (off_t)(offset + done));
    if (put < 0) {
      if (errno == EINTR) continue;
      return -errno;
    }
    if (put == 0) return -EIO;
    done += (size_t)put;
  }
  return (int64_t)done;
}

int daybook_truncate(int descriptor, uint64_t size) {
  while (ftruncate(descriptor, (off_t)size) != 0) {
    if (errno != EINTR) return -errno;
  }
  return 0;
}

int daybook_sync(int descriptor) {
#if defined(F_FULLFSYNC)
  // A plain fsync may leave the data in the drive. Volumes that can't do better get a plain one.
  if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
  if (errno != ENOTSUP && errno != ENOTTY && errno != EINVAL) return -errno;
  return fsync(descriptor) == 0 ? 0 : -errno;
#else
  // Not repeated after EINTR: a failed sync is never retried as if it were fine.
  return fdatasync(descriptor) == 0 ? 0 : -errno;
#endif
}

int daybook_allocate(int descriptor, uint64_t size) {
#if defined(__linux__)
  return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) == 0 ? 0 : -errno;
#else
  (void)descriptor;
  (void)size;
  return -EOPNOTSUPP;
#endif
}

int daybook_drop_cache(int descriptor) {
#if defined(POSIX_FADV_DONTNEED)
  return -posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
#else
  (void)descriptor;
  return 0;
#endif
}

int daybook_sync_directory(const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (descriptor < 0) return -errno;
  int status = fsync(descriptor) == 0 ? 0 : -errno;
  close(descriptor);
  return status;
}

int daybook_rename_exclusive(const char *from, const char *to) {
#if defined(__linux__)
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -errno;
#elif defined(__APPLE__)
  if (renamex_np(from, to, RENAME_EXCL) == 0) return 0;
  if (errno != ENOTSUP) return -errno;
#endif
  // A hard link fails if there is something at `to`; then the old name goes.
  if (link(from, to) != 0) return -errno;
  return unlink(from) == 0 ? 0 : -errno;
}

int daybook_rename_over(const char *from, const char *to) {
  return rename(from, to) == 0 ? 0 : -errno;
}

int daybook_stat(const char *path, int *kind, uint64_t *size) {
  struct stat found;
  if (stat(path, &found) != 0) return -errno;
  *kind = S_ISREG(found.st_mode) ? 1 : S_ISDIR(found.st_mode) ? 2 : 3;
  *size = (uint64_t)found.st_size;
  return 0;
}

int daybook_lock(int descriptor) {
#if defined(F_OFD_SETLK)
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
  if (fcntl(descriptor, F_OFD_SETLK, &whole) == 0) return 0;
  if (errno == EACCES) return -EAGAIN;
  if (errno != EINVAL) return -errno;
#endif
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
  return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

int daybook_unlock(int descriptor) {
#if defined(F_OFD_SETLK)
  struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
  if (fcntl(descriptor, F_OFD_SETLK, &whole) == 0) return 0;
  if (errno != EINVAL) return -errno;
#endif
  return flock(descriptor, LOCK_UN) == 0 ? 0 : -errno;
}

int daybook_lock_directory(const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (descriptor < 0) return -errno;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    int status = errno == EWOULDBLOCK ? -EAGAIN : -errno;
    close(descriptor);
    return status;
  }
  return descriptor;
}

int daybook_unlock_directory(int descriptor) {
  flock(descriptor, LOCK_UN);
  return daybook_close(descriptor);
}

int daybook_is_locked(int descriptor) {
#if defined(F_OFD_GETLK)
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
  if (fcntl(descriptor, F_OFD_GETLK, &whole) != 0) return -errno;
  return whole.l_type != F_UNLCK;
#else
  if (flock(descriptor, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK ? 1 : -errno;
  flock(descriptor, LOCK_UN);
  return 0;
#endif
}

int daybook_identity(int descriptor, uint64_t *device, uint64_t *inode) {
  struct stat found;
  if (fstat(descriptor, &found) != 0) return -errno;
  *device = (uint64_t)found.st_dev;
  *inode = (uint64_t)found.st_ino;
  return 0;
}
