#include "golden/made_checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tokamak::golden {
namespace {

/// Tensors in the form of safetensors.
struct Writer {
  Json::Object header;
  std::string bytes;

  /// Element i is middle + 2^exponent u, where u from -128 to 127 is the top byte of splitmix64 of
  /// the name's FNV-1a hash plus i. Matrices are bf16, which has room for such numbers around 0,
  /// vectors f32, and bytes the whole part.
  void add(const std::string& name, const Json& weight) {
    uint64_t key = 0xcbf29ce484222325;
    for (const char c : name) key = (key ^ uint8_t(c)) * 0x100000001b3;
    uint64_t count = 1;
    const Json::Array& shape = weight.find("shape")->as_array();
    for (const Json& extent : shape) count *= uint64_t(extent.as_integer());
    const double step = std::ldexp(1.0, int(weight.find("exponent")->as_integer()));
    const double middle = weight.find("middle")->as_number();
    const bool is_vector = shape.size() <= 1, is_byte = weight.find("bytes") != nullptr;
    const size_t begin = bytes.size();
    for (uint64_t i = 1; i <= count; ++i) {
      uint64_t x = key + i * 0x9e3779b97f4a7c15;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
      x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
      x ^= x >> 31;
      const auto value = float(middle + double(x >> 56) * step - 128 * step);
      if (is_byte) {
        bytes += char(uint8_t(value));
        continue;
      }
      const auto bits = std::bit_cast<uint32_t>(value);
      const size_t size = is_vector ? 4 : 2;
      for (size_t byte = 0; byte < size; ++byte) {
        bytes += char(bits >> (8 * (byte + 4 - size)) & 0xff);
      }
    }
    Json entry;
    entry.set("dtype", is_byte ? "U8" : is_vector ? "F32" : "BF16").set("shape", shape);
    entry.set("data_offsets", Json::Array{Json(begin), Json(bytes.size())});
    header.emplace_back(name, std::move(entry));
  }

  std::string file() const {
    const std::string text = Json(header).dump();
    std::string out(8, '\0');
    const uint64_t length = text.size();
    std::memcpy(out.data(), &length, sizeof length);
    return out + text + bytes;
  }
};

/// The name with its first '*' as a number.
std::string numbered(std::string name, uint64_t index) {
  const size_t star = name.find('*');
  return star == name.npos ? name : name.replace(star, 1, fmt::format("{}", index));
}

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  EXPECT_TRUE(out.good()) << path;
}

}  // namespace

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TOKAMAK_TEST_DATA "/families")) {
    names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string family_file(const std::string& name) {
  return TOKAMAK_TEST_DATA "/families/" + name + ".json";
}

std::string made_checkpoint(const std::string& name, const Json& family) {
  Writer tensors;
  for (const Json& weight : family.find("weights")->as_array()) {
    const std::string& pattern = weight.find("name")->as_string();
    const Json* layers = weight.find("layers");
    const Json* experts = weight.find("experts");
    const uint64_t copies = experts != nullptr ? uint64_t(experts->as_integer()) : 1;
    for (const Json& layer : layers != nullptr ? layers->as_array() : Json::Array{Json(0)}) {
      const std::string own = numbered(pattern, uint64_t(layer.as_integer()));
      for (uint64_t e = 0; e < copies; ++e) tensors.add(numbered(own, e), weight);
    }
  }
  const std::string folder =
      fmt::format("{}tokamak-{}-{}", testing::TempDir(), name, int64_t(getpid()));
  std::filesystem::create_directories(folder);
  write(folder + "/config.json", family.find("config")->dump());
  write(folder + "/model.safetensors", tensors.file());
  return folder;
}

}  // namespace tokamak::golden
