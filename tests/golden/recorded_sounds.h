// Recorded sounds, decoded.
#pragma once
#include "audio/decode.h"
#include "golden/recorded_files.h"

namespace tokamak::golden {

/// Fails the running test and gives none when the file is missing or malformed.
inline Samples samples_of(const std::string& path) {
  const auto file = open_file(path);
  EXPECT_TRUE(file) << path;
  if (!file) return {};
  const auto bytes = (*file)->view(0, (*file)->size());
  EXPECT_TRUE(bytes);
  auto samples = decode_sound({bytes->data(), bytes->size()});
  EXPECT_TRUE(samples) << samples.error().message;
  return samples ? *std::move(samples) : Samples();
}

}  // namespace tokamak::golden
