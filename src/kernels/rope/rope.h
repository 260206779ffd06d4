// Rotary position embedding, halves rotated:
//   y[i]       = x[i] * cos - x[i + d/2] * sin
//   y[i + d/2] = x[i + d/2] * cos + x[i] * sin        for i < d/2, within each head
//
//   x      f32 [T, heads * head_dim]
//   table  f32 [rows, d]    row p: d/2 cosines, then d/2 sines of position p; d <= head_dim
//          with short_rows: that many rows for sequences of at most that many tokens, then the rows
//          of longer ones, from position 0 on
//          or f32 [T, d], an input: row t is for row t of the step, wherever that stands
//   y      f32 [T, heads * head_dim]    elements from d on are copied
// The angles are made on the host in the reference's own precision, because sin and cos of large
// arguments are loose on devices. Reference: transformers, modeling_llama.py, apply_rotary_pos_emb.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {

/// Turns a head as above by a row of the table, in f32 as the reference file does.
void rotate(std::span<float> head, std::span<const float> angles);

/// The row of the table for token t of the step.
std::span<const float> angles_of(const CpuTensor& table, const BatchView& batch, size_t short_rows,
                                 size_t t);

// Rows of the references (kernels/rows.h), by a table of positions and by angles of their own, and
// why each does not take a problem; "" if it does.
void rope_row(const CpuCall& call, size_t t);
void rope_own_angles_row(const CpuCall& call, size_t t);
std::string angles_table_refuses(const Problem& problem, const DeviceInfo&);
std::string own_angles_refuse(const Problem& problem, const DeviceInfo&);

std::span<const KernelVariant> rope_variants();

}  // namespace tokamak
