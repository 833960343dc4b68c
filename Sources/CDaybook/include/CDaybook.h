// System calls and checksums that Swift on this platform does not offer.
// Each has one Swift wrapper; nothing else calls into this target.
#ifndef CDAYBOOK_H
#define CDAYBOOK_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, RFC 3720) of `count` bytes, continuing from `crc` (0 to begin).
uint32_t daybook_crc32c(uint32_t crc, const void *bytes, size_t count);

/// The same without the processor's instruction, so that a test can compare the two.
uint32_t daybook_crc32c_portable(uint32_t crc, const void *bytes, size_t count);

// Every call below returns 0 or a count on success, and -errno on failure. All restart after EINTR.

/// Opens `path`: bit 0 of `mode` write access, bit 1 create, bit 2 fail if it exists. Returns the
/// descriptor.
int daybook_open(const char *path, int mode);
/// Closes a descriptor.
int daybook_close(int descriptor);
/// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
int64_t daybook_read(int descriptor, void *bytes, size_t count, uint64_t offset);
/// Writes all `count` bytes at `offset`.
int64_t daybook_write(int descriptor, const void *bytes, size_t count, uint64_t offset);
/// Sets the size of a file.
int daybook_truncate(int descriptor, uint64_t size);
/// Makes the file's data and size durable: fdatasync, or F_FULLFSYNC on Apple's systems.
int daybook_sync(int descriptor);
/// Reserves space without changing the size; -EOPNOTSUPP where that can't be had.
int daybook_allocate(int descriptor, uint64_t size);
/// Asks the system to forget cached pages, so that the next read comes from the device.
int daybook_drop_cache(int descriptor);
/// Makes a directory's entries durable.
int daybook_sync_directory(const char *path);
/// Renames, and fails with -EEXIST if there is something at `to`.
int daybook_rename_exclusive(const char *from, const char *to);
/// Renames; what is at `to` is replaced in one step.
int daybook_rename_over(const char *from, const char *to);
/// The kind (1 file, 2 directory, 3 other) and size of `path`.
int daybook_stat(const char *path, int *kind, uint64_t *size);
/// Takes an exclusive lock that belongs to the open file and ends with it; -EAGAIN if it is taken.
int daybook_lock(int descriptor);
/// Lets go of the lock, also where a process that is being started still shares the descriptor.
int daybook_unlock(int descriptor);
/// Takes an exclusive lock of the directory `path` itself, which no removed or replaced file gives
/// up. Returns the descriptor that holds it; -EAGAIN if it is taken.
int daybook_lock_directory(const char *path);
/// Lets go of a directory's lock and of its descriptor.
int daybook_unlock_directory(int descriptor);
/// 1 if somebody else holds the lock, 0 if nobody does; takes nothing.
int daybook_is_locked(int descriptor);
/// The device and inode behind a descriptor.
int daybook_identity(int descriptor, uint64_t *device, uint64_t *inode);

#endif
