#include "memory/embedder.h"

#include <array>
#include <cmath>

namespace tokamak::memory {
namespace {

const std::array<std::string, 2> kDocuments = {"int main() { return 0; }",
                                               "Payment is due within 30 days."};
const std::array<std::string, 1> kQueries = {"How do plants grow?"};

/// Packing weights to 4 bits turns vectors less than this; other pooling turns them further.
constexpr double kMinAgreement = 0.95;

}  // namespace

Result<std::vector<float>> fingerprint(const Embedder& embedder) {
  if (!embedder.known_fingerprint.empty()) return embedder.known_fingerprint;
  TOK_TRY(std::vector<std::vector<float>> rows, embedder.embed(kDocuments, Side::kDocument));
  TOK_TRY(const std::vector<std::vector<float>> asked, embedder.embed(kQueries, Side::kQuery));
  rows.insert(rows.end(), asked.begin(), asked.end());
  // Vectors of some models differ little from their mean, which would hide how they differ.
  std::vector<float> mean(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) mean[i] += row[i] / float(rows.size());
  }
  std::vector<float> out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) out.push_back(row[i] - mean[i]);
  }
  return out;
}

uint32_t dimension_of(std::span<const float> fingerprint) {
  return uint32_t(fingerprint.size() / (kDocuments.size() + kQueries.size()));
}

bool is_same_model(std::span<const float> one, std::span<const float> other) {
  if (one.size() != other.size()) return false;
  double product = 0, ones = 0, others = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    product += double(one[i]) * other[i];
    ones += double(one[i]) * one[i];
    others += double(other[i]) * other[i];
  }
  return product >= kMinAgreement * std::sqrt(ones * others);
}

}  // namespace tokamak::memory
