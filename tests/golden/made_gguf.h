// GGUF files made of checkpoints, as llama.cpp's converter makes them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "formats/tensor_file.h"

namespace tokamak::golden {

/// A tensor with its bytes, which are those of a float type.
struct LooseTensor {
  TensorInfo info;
  std::string bytes;

  uint64_t element_bytes() const { return bytes.size() / info.elements(); }
  /// Keeps `rows` of it, in that order.
  void take_rows(const std::vector<uint64_t>& rows);
  /// Turns [in, out], or each [in, out] of several, round.
  void transpose();
};

/// A tensor `name` of those rows, where `old` stands in the name of `tensor`.
LooseTensor rows_as(const LooseTensor& tensor, const std::string& old, const std::string& name,
                    const std::vector<uint64_t>& rows);
/// Matrices of all experts as [in, out] become [out, in], and gate and up each their own.
std::vector<LooseTensor> expert_tensors(LooseTensor tensor);

/// Changes each float of a tensor, which becomes f32.
void change_floats(LooseTensor& tensor, const std::function<float(float)>& change);

/// The order of rows of heads that llama.cpp turns in pairs of neighbours.
std::vector<uint64_t> rows_in_pairs(uint64_t rows, uint64_t heads);
/// `count` rows from `first` on.
std::vector<uint64_t> row_range(uint64_t first, uint64_t count);

using GgufNumbers = std::vector<std::pair<std::string, Json>>;

/// Sizes that all architectures have, and more.
GgufNumbers gguf_sizes(uint32_t hidden, uint32_t layers, uint32_t heads, uint32_t ffn,
                       uint32_t positions, const GgufNumbers& more);

struct GgufForm {
  std::string architecture;
  /// Without "ARCHITECTURE." in front: whole numbers, numbers, truths and lists of numbers.
  GgufNumbers metadata;
  std::string layers;  // what stands before the number of a layer in the checkpoint
  /// From names of the checkpoint, without the layer, the number of an expert, and ".weight" or
  /// ".bias". What gets one name is stacked.
  std::vector<std::pair<std::string, std::string>> names;
  /// Gives the tensors that are made of one, which comes renamed; by default it stays as it is.
  std::function<std::vector<LooseTensor>(LooseTensor)> change = nullptr;
  /// Vectors of f32 that no checkpoint has.
  std::vector<std::pair<std::string, std::vector<float>>> vectors = {};
  /// Keys, and the tensors of one number in each layer that they list.
  std::vector<std::pair<std::string, std::string>> lists = {};
  /// Names of tensors begin with one of these; others are left out. Empty: all.
  std::vector<std::string> parts = {};
  std::string blocks = "blk.";  // before the number of a layer in the file
  Json::Array tokens = {};      // tokenizer.ggml.tokens
};

/// By the name of the checkpoint.
using GgufForms = std::map<std::string, GgufForm>;
std::vector<std::string> names_of(const GgufForms& forms);

/// Writes the file; a tensor without a name there fails the running test.
void write_gguf(const std::string& path, const TensorFile& checkpoint, const GgufForm& form);

}  // namespace tokamak::golden
