// Sums for quantize/importance.h: the squares of the columns that the matrices of a GGUF model are
// multiplied by, while it runs on the processor. Layout of the file: llama.cpp,
// tools/imatrix/imatrix.cpp.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "backend/cpu/observe.h"
#include "base/result.h"
#include "engine/engine.h"
#include "formats/gguf.h"

namespace tokamak {

/// A tensor of one matrix, or of one for each expert.
struct ColumnSums {
  uint64_t columns = 0;
  std::vector<double> squares;   // of each expert and column
  std::vector<uint64_t> counts;  // rows that were multiplied, of each expert
};

class ImportanceMatrix {
 public:
  /// Opens the model of `file` on the processor, as the unfused graph, whose products are one
  /// matrix each, with `options` beside. REQUIRES: this outlives the engine.
  Result<std::unique_ptr<Engine>> open(const GgufFile& file, OpenOptions options);

  /// By the names of the file.
  const std::map<std::string, ColumnSums>& tensors() const { return tensors_; }

  /// The text and how it was cut, for the file's metadata.
  struct Source {
    std::string text;
    uint32_t windows = 0, window = 0;
  };
  /// The bytes of a GGUF file.
  std::string to_gguf(const Source& source) const;

 private:
  /// The matrix of a tensor that has rows of an expert.
  struct Place {
    ColumnSums* sums = nullptr;
    size_t matrix = 0;
    bool operator==(const Place&) const = default;
  };
  using Experts = std::vector<std::vector<Place>>;

  void observe(const Plan& plan, const Step& step, const CpuCall& call);
  const Experts& experts_of(const TensorDesc& constant, uint32_t experts);
  void add_places(const Weight& weight, uint64_t columns, uint64_t rows_of_expert, Experts& out);

  const GgufFile* file_ = nullptr;
  const TensorFile* tensors_of_model_ = nullptr;  // the same under other names
  std::map<std::string, ColumnSums> tensors_;
  std::map<std::string, Experts> experts_;  // by the constant's name
};

}  // namespace tokamak
