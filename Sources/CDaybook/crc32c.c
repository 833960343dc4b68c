#include "CDaybook.h"

#include <string.h>

// Castagnoli's polynomial, reflected (RFC 3720, appendix B.4).
#define POLYNOMIAL 0x82F63B78u

static uint32_t tables[8][256];

// Filled before main, so that no call has to ask whether it is.
__attribute__((constructor)) static void fill_tables(void) {
  for (uint32_t index = 0; index < 256; index++) {
    uint32_t crc = index;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1)));
    tables[0][index] = crc;
  }
  for (uint32_t index = 0; index < 256; index++) {
    for (int slice = 1; slice < 8; slice++) {
      uint32_t previous = tables[slice - 1][index];
      tables[slice][index] = (previous >> 8) ^ tables[0][previous & 0xFF];
    }
  }
}

// Eight bytes at a time ("slicing by 8").
uint32_t daybook_crc32c_portable(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *p = bytes;
  crc = ~crc;
  while (count >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    word ^= crc;
    crc = tables[7][word & 0xFF] ^ tables[6][(word >> 8) & 0xFF] ^ tables[5][(word >> 16) & 0xFF] ^
          tables[4][(word >> 24) & 0xFF] ^ tables[3][(word >> 32) & 0xFF] ^
          tables[2][(word >> 40) & 0xFF] ^ tables[1][(word >> 48) & 0xFF] ^ tables[0][word >> 56];
    p += 8;
    count -= 8;
  }
  while (count-- > 0) crc = (crc >> 8) ^ tables[0][(crc ^ *p++) & 0xFF];
  return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t hardware(uint32_t crc, const uint8_t *p,
                                                           size_t count) {
  uint64_t state = (uint32_t)~crc;
  while (count >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    state = _mm_crc32_u64(state, word);
    p += 8;
    count -= 8;
  }
  uint32_t narrow = (uint32_t)state;
  while (count-- > 0) narrow = _mm_crc32_u8(narrow, *p++);
  return ~narrow;
}

static int has_hardware(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>

static uint32_t hardware(uint32_t crc, const uint8_t *p, size_t count) {
  crc = ~crc;
  while (count >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    crc = __crc32cd(crc, word);
    p += 8;
    count -= 8;
  }
  while (count-- > 0) crc = __crc32cb(crc, *p++);
  return ~crc;
}

static int has_hardware(void) { return 1; }

#else

static uint32_t hardware(uint32_t crc, const uint8_t *p, size_t count) {
  return daybook_crc32c_portable(crc, p, count);
}

static int has_hardware(void) { return 0; }

#endif

uint32_t daybook_crc32c(uint32_t crc, const void *bytes, size_t count) {
  return has_hardware() ? hardware(crc, bytes, count) : daybook_crc32c_portable(crc, bytes, count);
}
