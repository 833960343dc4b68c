// System calls and checksums that Swift on this platform does not offer.
// Each has one Swift wrapper; nothing else calls into this target.
#ifndef CDAYBOOK_H
#define CDAYBOOK_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, RFC 3720) of `count` bytes, continuing from `crc` (0 to begin).
uint32_t daybook_crc32c(uint32_t crc, const void *bytes, size_t count);

#endif
