// GGUF files in memory for tests.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/bits.h"
#include "formats/gguf.h"
#include "formats/gguf_writer.h"

namespace tokamak {

struct MadeGguf {
  std::vector<GgufEntry> entries{gguf_entry("general.file_type", 0), gguf_entry("made.number", 7)};
  std::vector<TensorInfo> tensors;
  std::string data;

  /// A tensor of f32; `values` repeat.
  MadeGguf& add(std::string name, std::vector<uint64_t> shape, std::vector<float> values = {0}) {
    TensorInfo tensor;
    tensor.name = std::move(name);
    tensor.shape = std::move(shape);
    tensor.bytes = tensor.elements() * sizeof(float);
    const size_t begin = data.size();
    data.resize(begin + size_t(round_up(tensor.bytes, uint64_t{32})));
    for (size_t i = 0; i < size_t(tensor.elements()); ++i) {
      std::memcpy(data.data() + begin + i * sizeof(float), &values[i % values.size()],
                  sizeof(float));
    }
    tensors.push_back(std::move(tensor));
    return *this;
  }
  GgufFile file() const { return read(gguf_header(entries, tensors, 32) + data); }

  static GgufFile read(const std::string& bytes) {
    const auto span = std::as_bytes(std::span(bytes));
    auto part = read_gguf_part(memory_source("made", {span.begin(), span.end()}));
    EXPECT_TRUE(part) << part.error().message;
    std::vector<GgufPart> parts;
    parts.push_back(*std::move(part));
    auto file = join_gguf_parts(std::move(parts));
    EXPECT_TRUE(file) << file.error().message;
    return *std::move(file);
  }
};

}  // namespace tokamak
