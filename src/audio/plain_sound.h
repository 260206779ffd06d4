// The headers of AIFF, AIFF-C, AU and CAF: files whose samples stand as they are after a header.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tokamak {

enum class PlainEncoding : uint8_t { kS8, kU8, kS16, kS24, kS32, kF32, kF64, kULaw, kALaw };

struct PlainSound {
  PlainEncoding encoding = PlainEncoding::kS16;
  bool is_little = false;  // the order of bytes
  uint32_t rate = 0, channels = 0;
  std::span<const std::byte> samples;
  uint64_t frames = 0;  // that there should be by the header; 0: not given
};

bool is_aiff(std::span<const std::byte> file);
bool is_au(std::span<const std::byte> file);
bool is_caf(std::span<const std::byte> file);

// The sounds of a file, several where files were put one after the other. A size of 0, or of so
// much that nobody can have meant it, reaches to the end of the file. Errors: no format or no
// samples; an encoding that is compressed or that hardly anyone has. REQUIRE: is_aiff() and so on.
Result<std::vector<PlainSound>> read_aiff(std::span<const std::byte> file);
Result<std::vector<PlainSound>> read_au(std::span<const std::byte> file);
Result<std::vector<PlainSound>> read_caf(std::span<const std::byte> file);

}  // namespace tokamak
