// Products of a few tokens, each weight read once for all of them: see linear.h.
#pragma once
#include "kernels/kernel.h"

namespace tokamak {

/// Most tokens of a step that these kernels take.
inline constexpr uint32_t kSmallBatch = 8;
/// The same of products of bytes.
inline constexpr uint32_t kFewRows = 4;

std::string small_batch_refuses(const Problem& p, const DeviceInfo& device);
Launch small_batch_plain(const Problem& p, const DeviceInfo&);
std::string small_batch_subgroup_refuses(const Problem& p, const DeviceInfo& device);
Launch small_batch_subgroup(const Problem& p, const DeviceInfo&);
std::string small_batch_bytes_refuses(const Problem& p, const DeviceInfo& device);
Launch small_batch_bytes(const Problem& p, const DeviceInfo& device);

}  // namespace tokamak
