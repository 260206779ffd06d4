// The part that the kernels of attention to latents share.
#pragma once
#include "kernels/kernel.h"

namespace tokamak {

/// Elements of a cell, and of a head's query.
inline uint32_t cell_width(const Problem& p) {
  return uint32_t(p.inputs[2].shape[1]);
}

inline uint32_t attention_heads(const Problem& p) {
  return uint32_t(p.inputs[0].shape[1] + p.inputs[1].shape[1]) / cell_width(p);
}

/// The constants of all of them, for workgroups of `threads` lanes.
Launch latent_attention_base(const Problem& p, uint32_t threads);

/// By matrix units, where a lane may touch its elements of fragments
/// (attention/attention_fragments.wgsl).
std::string latent_fragments_refuse(const Problem& p, const DeviceInfo& device);
Launch latent_fragments_launch(const Problem& p, const DeviceInfo& device);

}  // namespace tokamak
