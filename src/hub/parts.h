// How far a download has come, as a text beside the contents: what is there survives whatever
// ends the program, and the next one goes on from there; the hash shows where the machine ended.
//
//   tokamak-parts 1 SIZE PART        bytes of the file and of a part
//   COUNT                            bytes of the first part that are there, from its beginning
//   ...                              all numbers have 20 digits, to be written in place
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokamak::hub {

struct Parts {
  uint64_t size = 0, part_bytes = 0;
  std::vector<uint64_t> done;  // of each part

  uint64_t begin(size_t part) const { return part * part_bytes; }
  uint64_t end(size_t part) const;
  uint64_t total_done() const;
};

/// None of it is there yet. REQUIRES: part_bytes > 0.
Parts new_parts(uint64_t size, uint64_t part_bytes);

std::string format_parts(const Parts& parts);

/// Nothing unless `text` is the whole state of a file of `size` bytes.
std::optional<Parts> parse_parts(std::string_view text, uint64_t size);

/// The place of a part's count in the text, and the count.
size_t count_offset(size_t part);
std::string format_count(uint64_t count);

}  // namespace tokamak::hub
