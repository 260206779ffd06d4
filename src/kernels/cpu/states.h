// A matrix that a head remembers, [rows, columns], and a token's step of it, in vectors. Sums are
// of f32, row after row.
#pragma once
#include <span>

namespace tokamak {

/// y[c] = sum over r of k[r] s[r, c].
void read_state(std::span<const float> k, std::span<const float> s, std::span<float> y);

/// s[r, c] = decay s[r, c] + k[r] added[c], then y[c] = sum over r of q[r] s[r, c].
void step_state(std::span<const float> q, std::span<const float> k, float decay,
                std::span<const float> added, std::span<float> s, std::span<float> y);

/// y += factor x.
void add_scaled(std::span<const float> x, float factor, std::span<float> y);

}  // namespace tokamak
