// Loops over arrays of floats in vectors. Errors are those of f32, a few units in the
// last place; sums are of several parts.
#pragma once
#include <span>

#include "graph/activation.h"

namespace tokamak {

/// y = activation(x). They may be the same array.
void activate_array(Activation activation, std::span<const float> x, std::span<float> y);

/// y = activation(gate) * up.
void gate_arrays(Activation activation, std::span<const float> gate, std::span<const float> up,
                 std::span<float> y);

/// The same of pairs: even elements of x are gates, odd ones what they gate.
void gate_pairs(Activation activation, std::span<const float> x, std::span<float> y);

/// y = a + b.
void add_arrays(std::span<const float> a, std::span<const float> b, std::span<float> y);

/// y = x / sqrt(mean(x^2) + eps) * w, for one group of w.size() elements.
void norm_array(std::span<const float> x, std::span<const float> w, float eps, std::span<float> y);

/// y = a * b.
void multiply_arrays(std::span<const float> a, std::span<const float> b, std::span<float> y);

/// y = y + a * b.
void add_products(std::span<const float> a, std::span<const float> b, std::span<float> y);

/// The sum of x, and of (x - mean)^2.
double sum_array(std::span<const float> x);
double sum_squares(std::span<const float> x, float mean);

/// y = (x - mean) * scale * w (+ bias), for w.size() elements.
void scale_distances(std::span<const float> x, float mean, float scale, std::span<const float> w,
                     std::span<const float> bias, std::span<float> y);

/// y = x + sin(rate x)^2 / (rate + 1e-9), for rates.size() elements.
void snake_array(std::span<const float> x, std::span<const float> rates, std::span<float> y);

/// y = cap * tanh(x / cap).
void cap_array(float cap, std::span<const float> x, std::span<float> y);

}  // namespace tokamak
