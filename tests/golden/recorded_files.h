// Files of recorded answers, read by tests whether they open models or not.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/json.h"
#include "formats/native_files.h"
#include "formats/tensor_file.h"

namespace tokamak::golden {

/// Fails the running test and gives null when the file is missing or malformed.
inline Json read_json(const std::string& path) {
  auto text = read_text_file(path, uint64_t{64} << 20);
  if (!text) {
    ADD_FAILURE() << text.error().message;
    return {};
  }
  auto json = Json::parse(*text);
  if (json) return *std::move(json);
  ADD_FAILURE() << path << ": " << json.error().message;
  return {};
}

/// The floats of a tensor; fails the running test and gives none when there is no such tensor.
inline std::vector<float> recorded(const TensorFile& arrays, const std::string& name) {
  const TensorInfo* info = arrays.find(name);
  EXPECT_NE(info, nullptr) << name;
  if (info == nullptr) return {};
  const auto bytes = arrays.data(*info);
  EXPECT_TRUE(bytes);
  std::vector<float> out(size_t(info->elements()));
  if (bytes) std::memcpy(out.data(), bytes->data(), out.size() * sizeof(float));
  return out;
}

}  // namespace tokamak::golden
