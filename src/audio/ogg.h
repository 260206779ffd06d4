// The links of a chained Ogg file: sounds that were put one after the other.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tokamak {

struct OggLink {
  std::span<const std::byte> pages;  // all but the last
  std::vector<std::byte> last_page;  // with the mark of a stream's end, which recorders forget
};

struct OggFile {
  std::vector<OggLink> links;
  std::string missing;  // a sentence about what is cut off or damaged; "": nothing
};

/// REQUIRES: the file begins with a page.
OggFile read_ogg(std::span<const std::byte> file);

}  // namespace tokamak
