// A transposed convolution in groups of columns, 2 * rate taps with a stride of rate, as it goes
// through a sequence: a row of y holds `rate` rows of `out` columns, one after another.
//   y[t, p * out + j] = bias[j] + sum_c w[c, p] x[t, c] + w[c, p + rate] x[t-1, c]
// over the n / out columns c of group j; before a slot's first row x is 0.
//
//   x     f32 [T, n]
//   w     f32 [n, 2*rate]
//   bias  f32 [out]
//   y     f32 [T, rate*out]
// One element per lane: it reads few numbers. Sums in f32 on devices, in f64 in the reference.
// Reference: NeMo, nemo/collections/tts/modules/audio_codec_modules.py, CausalConvTranspose1dNorm.
#pragma once
#include <span>

#include "kernels/kernel.h"

namespace tokamak {
std::span<const KernelVariant> transposed_conv_variants();
}
