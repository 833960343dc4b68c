#include "CDaybook.h"

// Table-driven CRC-32C, one byte at a time.
static uint32_t table_entry(uint32_t index) {
  uint32_t crc = index;
  for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1)));
  return crc;
}

uint32_t daybook_crc32c(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *p = bytes;
  crc = ~crc;
  for (size_t i = 0; i < count; i++) crc = (crc >> 8) ^ table_entry((crc ^ p[i]) & 0xFF);
  return ~crc;
}
