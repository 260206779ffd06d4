// Writes the archives and pickles that tests damage.
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/byte_source.h"

namespace tokamak {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

template <typename T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::string tar_of(const NamedTexts& files) {
  std::string out;
  for (const auto& [name, text] : files) {
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    const std::string size = fmt::format("{:011o}", text.size());
    header.replace(124, size.size(), size);
    header.replace(148, 8, "        ");
    header[156] = '0';
    uint32_t sum = 0;
    for (const char c : header) sum += uint8_t(c);
    header.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
    out += header + text;
    out.resize((out.size() + 511) / 512 * 512, '\0');
  }
  return out + std::string(1024, '\0');
}

/// `method`: 0 says that files are stored as they are.
inline std::string zip_of(const NamedTexts& files, uint16_t method = 0) {
  std::string out, list;
  for (const auto& [name, text] : files) {
    const auto size = raw(uint32_t(text.size()));
    const std::string common = raw(uint16_t{20}) + raw(uint16_t{0}) + raw(method) +
                               std::string(8, '\0') + size + size + raw(uint16_t(name.size()));
    list += raw(uint32_t{0x02014b50}) + raw(uint16_t{20}) + common + std::string(12, '\0') +
            raw(uint32_t(out.size())) + name;
    out += raw(uint32_t{0x04034b50}) + common + raw(uint16_t{0}) + name + text;
  }
  const auto count = raw(uint16_t(files.size()));
  return out + list + raw(uint32_t{0x06054b50}) + raw(uint32_t{0}) + count + count +
         raw(uint32_t(list.size())) + raw(uint32_t(out.size())) + raw(uint16_t{0});
}

inline std::string pickled_text(const std::string& text) {
  return "X" + raw(uint32_t(text.size())) + text;
}

/// A tensor [2, 3] of `size` elements of storage "0", from element `first` on.
inline std::string pickled_tensor(const std::string& type, uint8_t size, uint8_t first,
                                  uint8_t stride = 3) {
  const auto number = [](uint8_t value) { return std::string("K") + char(value); };
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_text("storage") + "ctorch\n" + type +
         "\n" + pickled_text("0") + pickled_text("cpu") + number(size) + "tQ" + number(first) +
         number(2) + number(3) + "\x86" + number(stride) + number(1) + "\x86\x89" +
         "ccollections\nOrderedDict\n)RtR";
}

/// A dictionary of what follows one another: names and values.
inline std::string pickled_state(const std::string& items) {
  return "\x80\x02" + std::string("ccollections\nOrderedDict\n)R(") + items + "u" +
         // The other members of a state, as torch writes them.
         "}" + pickled_text("_metadata") + "ccollections\nOrderedDict\n)Rsb.";
}

inline std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline std::shared_ptr<ByteSource> source_of(const std::string& text) {
  return memory_source("model.nemo", bytes_of(text));
}

/// Two tensors of one storage of 12 floats: "a" the first half, "b" the second.
inline std::string small_pickle() {
  return pickled_state(pickled_text("a") + pickled_tensor("FloatStorage", 12, 0) +
                       pickled_text("b") + pickled_tensor("FloatStorage", 12, 6));
}

inline std::string small_weights() {
  std::string numbers;
  for (int i = 0; i < 12; ++i) numbers += raw(float(i));
  return zip_of({{"archive/data.pkl", small_pickle()},
                 {"archive/byteorder", "little"},
                 {"archive/data/0", numbers}});
}

inline std::string small_nemo(const std::string& config = "sample_rate: 8000\n") {
  return tar_of({{"./model_config.yaml", config}, {"./model_weights.ckpt", small_weights()}});
}

}  // namespace tokamak
