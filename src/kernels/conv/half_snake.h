// Half of the columns by a snake, the others by a leaky ReLU:
//   y = x + sin²(a x) / (a + 1e-9)     the first n/2 columns, rounded down, each with its rate a
//   y = x, or x / 100 below 0          the others
//
//   x  f32 [T, n]
//   a  f32 [n/2]
//   y  f32 [T, n]
// WGSL promises 11 bits of a sine. Since sin² repeats after π, a device reduces a x / π to a half
// turn and takes a polynomial, good to 1e-7 everywhere.
// Reference: NeMo, nemo/collections/tts/modules/audio_codec_modules.py, HalfSnake.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> half_snake_variants();

/// The value in f64, for every reference that has one. `rates`: those of the first columns.
double half_snake(std::span<const float> rates, size_t column, double x);

/// The source of `fn half_snake(value: f32, column: u32) -> f32`; the kernel declares its rates.
inline constexpr const char* kHalfSnakeSource = "conv/half_snake.wgsl";
}  // namespace tokamak
