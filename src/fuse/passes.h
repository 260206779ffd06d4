// The passes, one file each; pipeline.cpp has their order.
#pragma once
#include "fuse/pass.h"

namespace tokamak::fuse {

Pass add_layer_norm();
Pass add_rms_norm();
Pass batch_latents();
Pass conv_add();
Pass conv_linear();
Pass delta_row();
Pass expert_glu();
Pass expert_mix();
Pass gate_linear();
Pass gate_up();
Pass gated_conv();
Pass gated_ffn();
Pass glu_columns();
Pass head_argmax();
Pass head_norm();
Pass linear_gate();
Pass norm_add();
Pass norm_add_norm();
Pass norm_experts();
Pass norm_linear();
Pass qk();
Pass qkv();
Pass residual();
Pass rope_append();
Pass scale_embed();
Pass scale_route();
Pass snake_conv();
Pass split_attention();
Pass split_latents();
Pass split_linear();
Pass step_attention();

}  // namespace tokamak::fuse
