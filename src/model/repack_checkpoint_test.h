// Checkpoints in memory for the tests of repacking, and their matrices as the device gets them.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/bits.h"
#include "model/constant_bytes.h"
#include "model/repack.h"

namespace tokamak {

using Bytes = std::vector<std::byte>;

inline uint32_t u8(const std::byte* bytes, size_t i) {
  return uint32_t(bytes[i]);
}
inline float half_at(const std::byte* bytes) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return f16_to_f32(bits);
}

/// The number of `bits` bits that begins at bit `at`, bit by bit.
inline uint32_t bits_at(const Bytes& from, size_t at, uint32_t bits) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < bits; ++i, ++at) value |= (u8(from.data(), at / 8) >> at % 8 & 1) << i;
  return value;
}

/// The types of GGUF, and their blocks.
struct Gguf {
  DType type;
  size_t weights, bytes;
};
inline const Gguf kGguf[] = {{DType::kQ8_0, 32, 34},
                             {DType::kQ4_0, 32, 18},
                             {DType::kQ4_1, 32, 20},
                             {DType::kQ5_0, 32, 22},
                             {DType::kQ5_1, 32, 24},
                             {DType::kQ4_K, 256, 144},
                             {DType::kQ5_K, 256, 176},
                             {DType::kQ6_K, 256, 210},
                             {*dtype_from_name("q2_k"), 256, 84},
                             {*dtype_from_name("q3_k"), 256, 110},
                             {*dtype_from_name("iq4_nl"), 32, 18},
                             {*dtype_from_name("iq4_xs"), 256, 136},
                             {*dtype_from_name("mxfp4"), 32, 17},
                             {*dtype_from_name("tq1_0"), 256, 54},
                             {*dtype_from_name("tq2_0"), 256, 66},
                             {*dtype_from_name("q1_0"), 128, 18},
                             {*dtype_from_name("q2_0"), 64, 18}};

/// A checkpoint in memory of tensors of any bytes.
struct Checkpoint {
  Bytes bytes;
  std::vector<TensorInfo> infos;
  std::mt19937 random{1};

  TensorInfo& add(std::string name, DType dtype, std::vector<uint64_t> shape, const Bytes& data) {
    infos.push_back({std::move(name), dtype, std::move(shape), 0, bytes.size(), data.size()});
    bytes.insert(bytes.end(), data.begin(), data.end());
    return infos.back();
  }
  Bytes noise(size_t size) {
    Bytes data(size);
    for (std::byte& byte : data) byte = std::byte(random());
    return data;
  }
  Bytes halves(size_t count) {
    Bytes data(2 * count);
    for (size_t i = 0; i < count; ++i) {
      const uint16_t half = f32_to_f16(float(random() % 2000) / 1000 - 1);
      std::memcpy(data.data() + 2 * i, &half, 2);
    }
    return data;
  }
  template <typename T>
  void numbers(std::string name, DType dtype, std::vector<uint64_t> shape,
               const std::vector<T>& values) {
    const auto data = std::as_bytes(std::span(values));
    add(std::move(name), dtype, std::move(shape), Bytes(data.begin(), data.end()));
  }
  TensorFile file() const {
    return *TensorFile::make({memory_source("memory", bytes)}, infos, Json(Json::Object{}));
  }
};

inline TensorDesc constant(Dim rows, Dim columns, DType dtype, Weight weight) {
  return {"w", {rows, columns}, dtype, Storage::kConstant, std::move(weight), 0};
}

/// The constant as the device gets it, decoded by the reference.
inline std::vector<std::vector<float>> rows_of(const TensorFile& file, const TensorDesc& constant) {
  const Bytes bytes = constant_bytes(file, constant);
  const size_t rows = size_t(constant.shape[0]), columns = size_t(constant.shape[1]);
  std::vector<std::vector<float>> out(rows, std::vector<float>(columns));
  for (size_t row = 0; row < rows; ++row) unpack_row(constant.dtype, bytes, rows, row, out[row]);
  return out;
}

inline std::string read_error(const TensorFile& file, const TensorDesc& constant) {
  const auto bytes = constant_bytes(file, constant, 1);
  return bytes ? "" : bytes.error().message;
}

/// Equal, or both no number.
inline void expect_same(float expected, float actual, const std::string& where) {
  if (std::isnan(expected) && std::isnan(actual)) return;
  EXPECT_EQ(std::bit_cast<uint32_t>(expected), std::bit_cast<uint32_t>(actual)) << where;
}

}  // namespace tokamak
