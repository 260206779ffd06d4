#include "backend/webgpu/device_size.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/result.h"

namespace tokamak {
namespace {

struct Row {
  std::string_view name;  // words of the device's name
  uint32_t multiprocessors;
  uint32_t cache_mib = 0;  // of the second level; 0: not listed
};

/// Multiprocessors as vendors list them: NVIDIA's architecture whitepapers and product pages (CUDA
/// cores are 128 for each, 64 up to Turing and in A100), the table of GPUs in AMD's ROCm
/// documentation and AMD's product pages, Intel's product pages, Apple's technical specifications.
/// Where a chip is sold with several numbers of them, this is the largest.
constexpr Row kRows[] = {
    // NVIDIA: servers and workstations
    {"B200", 148, 126},
    {"GH200", 132, 50},
    {"H200", 132, 50},
    {"H100", 132, 50},
    {"H100 PCIe", 114, 50},
    {"A100", 108, 40},
    {"A40", 84, 6},
    {"A30", 56, 24},
    {"A10", 72, 6},
    {"L40S", 142, 96},
    {"L40", 142, 96},
    {"L4", 58, 48},
    {"V100", 80, 6},
    {"T4", 40, 4},
    {"P100", 56, 4},
    {"P40", 30, 3},
    {"RTX PRO 6000 Blackwell", 188, 128},
    {"RTX 6000 Ada", 142, 96},
    {"RTX A6000", 84, 6},
    {"RTX A5000", 64, 6},
    {"RTX A4000", 48, 4},
    // NVIDIA: desktops
    {"RTX 5090", 170, 96},
    {"RTX 5080", 84, 64},
    {"RTX 5070 Ti", 70, 48},
    {"RTX 5070", 48, 48},
    {"RTX 5060 Ti", 36, 32},
    {"RTX 5060", 30},
    {"RTX 4090", 128, 72},
    {"RTX 4080 SUPER", 80, 64},
    {"RTX 4080", 76, 64},
    {"RTX 4070 Ti SUPER", 66, 48},
    {"RTX 4070 Ti", 60, 48},
    {"RTX 4070 SUPER", 56, 48},
    {"RTX 4070", 46, 36},
    {"RTX 4060 Ti", 34, 32},
    {"RTX 4060", 24, 24},
    {"RTX 3090 Ti", 84, 6},
    {"RTX 3090", 82, 6},
    {"RTX 3080 Ti", 80, 6},
    {"RTX 3080", 68, 5},
    {"RTX 3070 Ti", 48, 4},
    {"RTX 3070", 46, 4},
    {"RTX 3060 Ti", 38, 4},
    {"RTX 3060", 28, 3},
    {"RTX 3050", 20, 2},
    {"RTX 2080 Ti", 68},
    {"RTX 2080 SUPER", 48, 4},
    {"RTX 2080", 46, 4},
    {"RTX 2070 SUPER", 40, 4},
    {"RTX 2070", 36, 4},
    {"RTX 2060 SUPER", 34, 4},
    {"RTX 2060", 30, 3},
    {"GTX 1660 Ti", 24},
    {"GTX 1660 SUPER", 22},
    {"GTX 1660", 22},
    {"GTX 1650", 14},
    {"GTX 1080 Ti", 28},
    {"GTX 1080", 20, 2},
    {"GTX 1070 Ti", 19, 2},
    {"GTX 1070", 15, 2},
    {"GTX 1060", 10},
    // NVIDIA: laptops
    {"RTX 4090 Laptop", 76, 64},
    {"RTX 4080 Laptop", 58, 48},
    {"RTX 4070 Laptop", 36, 32},
    {"RTX 4060 Laptop", 24, 32},
    {"RTX 4050 Laptop", 20},
    {"RTX 3080 Ti Laptop", 58},
    {"RTX 3080 Laptop", 48, 4},
    {"RTX 3070 Laptop", 40, 4},
    {"RTX 3060 Laptop", 30, 3},
    {"RTX 3050 Ti Laptop", 20, 2},
    {"RTX 3050 Laptop", 16, 2},
    // AMD
    {"MI300X", 304, 32},
    {"MI210", 104, 8},
    {"MI100", 120, 8},
    {"RX 9070 XT", 64, 8},
    {"RX 9070", 56, 8},
    {"RX 9060 XT", 32, 4},
    {"RX 7900 XTX", 96, 6},
    {"RX 7900 XT", 84, 6},
    {"RX 7900 GRE", 80, 6},
    {"RX 7800 XT", 60, 4},
    {"RX 7700 XT", 54, 4},
    {"RX 7600 XT", 32, 2},
    {"RX 7600", 32, 2},
    {"RX 6950 XT", 80, 4},
    {"RX 6900 XT", 80, 4},
    {"RX 6800 XT", 72, 4},
    {"RX 6800", 60, 4},
    {"RX 6750 XT", 40, 3},
    {"RX 6700 XT", 40, 3},
    {"RX 6650 XT", 32, 2},
    {"RX 6600 XT", 32, 2},
    {"RX 6600", 28, 2},
    {"RX 5700 XT", 40, 4},
    {"RX 5700", 36, 4},
    {"Radeon 8060S", 40, 2},
    {"Radeon 890M", 16},
    {"Radeon 880M", 12},
    {"Radeon 780M", 12, 2},
    {"Radeon 760M", 8},
    {"Radeon 680M", 12, 2},
    {"Radeon 660M", 6},
    {"VANGOGH", 8},
    // Intel
    {"B580", 20, 18},
    {"B570", 18},
    {"A770", 32, 16},
    {"A750", 28, 16},
    {"A580", 24},
    {"A380", 8},
    // Apple
    {"Apple M1", 8},
    {"Apple M1 Pro", 16},
    {"Apple M1 Max", 32},
    {"Apple M1 Ultra", 64},
    {"Apple M2", 10},
    {"Apple M2 Pro", 19},
    {"Apple M2 Max", 38},
    {"Apple M2 Ultra", 76},
    {"Apple M3", 10},
    {"Apple M3 Pro", 18},
    {"Apple M3 Max", 40},
    {"Apple M3 Ultra", 80},
    {"Apple M4", 10},
    {"Apple M4 Pro", 20},
    {"Apple M4 Max", 40},
};

/// Assumed of a vendor's other devices, which mostly share memory with a processor: their usual
/// size. `name` is a vendor's.
constexpr Row kVendors[] = {{"intel", 8}, {"apple", 10}};

/// Words that make another device of a name.
constexpr std::string_view kOther[] = {"Laptop", "Max-Q", "Mobile", "MIG"};

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool has_words(std::string_view name, std::string_view words) {
  for (size_t at = name.find(words); at != name.npos; at = name.find(words, at + 1)) {
    const size_t end = at + words.size();
    const bool begins = at == 0 || !is_word_char(name[at - 1]);
    if (begins && (end == name.size() || !is_word_char(name[end]))) return true;
  }
  return false;
}

bool is_other(std::string_view name, std::string_view row) {
  return std::ranges::any_of(kOther, [&](std::string_view word) {
    return has_words(name, word) && !has_words(row, word);
  });
}

DeviceSize made(const Row& row, std::string source) {
  return {row.multiprocessors, uint64_t{row.cache_mib} << 20, std::move(source)};
}

}  // namespace

DeviceSize size_of_device(std::string_view name, std::string_view vendor) {
  const Row* best = nullptr;
  for (const Row& row : kRows) {
    if (!has_words(name, row.name) || is_other(name, row.name)) continue;
    if (best == nullptr || row.name.size() > best->name.size()) best = &row;
  }
  if (best != nullptr) return made(*best, fmt::format("listed for {}", best->name));
  for (const Row& row : kVendors) {
    if (row.name == vendor) return made(row, fmt::format("assumed for vendor {}", vendor));
  }
  return {};
}

DeviceSize size_of_software() {
  return {.multiprocessors = 132, .source = "as an H200, whatever the cores"};
}

}  // namespace tokamak
