// The tokens that may still follow, and the rules that leave fewer of them: those of Hugging Face
// transformers, with its ties and thresholds (transformers/generation/logits_process.py).
#pragma once
#include <cstdint>
#include <vector>

namespace tokamak {

struct Scored {
  uint32_t id;
  float score;
};

/// In ascending order of id. Scores are finite.
using Pool = std::vector<Scored>;

/// REQUIRES: the pool is not empty.
float largest_score(const Pool& pool);

/// The score of a token that occurred before. Scores that are no finite numbers stay.
float penalized(float score, float penalty);

/// The divisor of scores: the temperature, or the smallest normal number.
float temperature_divisor(double temperature);

/// Divides by the temperature. When that leaves the range of f32, neighbours of the largest score
/// are so far below it that only the largest keeps a probability.
void apply_temperature(Pool& pool, double temperature);

/// Keeps the k largest and every token equal to the k-th.
void keep_top_k(Pool& pool, uint32_t k);

/// Removes, from the least probable up, tokens whose running sum is at most 1 - p; always keeps the
/// most probable one. Of equal tokens the lower ids go first, as in a stable ascending sort.
void keep_top_p(Pool& pool, double p);

/// The probability of that score as a part of the largest one's, as keep_min_p() compares it.
float part_of_largest(float score, float largest);

/// Keeps tokens of at least p times the largest probability; the common denominator cancels.
void keep_min_p(Pool& pool, double p);

/// Keeps the tokens whose information -log p is nearest to the entropy, up to a mass of p, and
/// every token as near as the last of them (Meister et al. 2022, arXiv:2202.00666).
void keep_typical(Pool& pool, double p);

/// Probabilities in the order of the pool.
std::vector<double> softmax(const Pool& pool);

/// The token in whose share `drawn`, in [0, 1), falls, when the shares lie one after the other,
/// the most probable first and of equals the lowest id first.
uint32_t token_at(const Pool& pool, double drawn);

}  // namespace tokamak
