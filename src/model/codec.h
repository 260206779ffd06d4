// Codecs that make a sound from codes: a frame, some milliseconds, has a code of each group. Models
// that speak generate these codes; one file per family in arch/.
//
// A decoder is stages, graphs between which rows become more: the first reads a row for each frame,
// and a row of its result holds, one after another, some rows of the next stage. Rows of the last
// one's are samples. All of them look back only, so that a sound can be made piece by piece.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "formats/tensor_file.h"
#include "graph/builder.h"

namespace tokamak {

struct CodecStage {
  Graph graph;         // of the rows codec_input(its index)
  uint32_t rate = 1;   // rows that a row of its result holds
  uint32_t reach = 0;  // how many rows before its own a row of the result depends on
};

/// The name of the rows that stage `index` reads.
std::string codec_input(size_t index);

/// Some rows of a sequence.
struct RowSpan {
  uint64_t first = 0, end = 0;
  uint64_t size() const { return end - first; }
  bool operator==(const RowSpan&) const = default;
};

struct CodecModel {
  std::vector<CodecStage> stages;
  uint32_t sample_rate = 0;        // samples of a second
  uint32_t samples_per_frame = 0;  // the product of the rates
  uint32_t groups = 0;             // codes of a frame
  std::vector<uint32_t> levels;    // of the numbers that a code stands for

  /// A code is below that: the product of the levels.
  uint32_t codes_per_group() const;
  /// The input of the first stage: a code is a number of each of the levels, the first changing
  /// fastest, and k of L levels is (k - h) / h with h = L / 2, rounded down (finite scalar
  /// quantization, arXiv:2309.15505). Codes [frames, groups]
  /// -> [frames, groups * levels]. Errors: a code that is none. REQUIRES: whole frames.
  Result<std::vector<float>> latents(std::span<const uint32_t> codes) const;
  /// The rows that each stage has to read for the samples of the frames from `first` on, before
  /// `end`, to be those of the whole sequence; later stages need fewer frames before these.
  std::vector<RowSpan> rows_for(uint64_t first, uint64_t end) const;
  /// How many frames before its own a sample depends on.
  uint32_t context_frames() const;
};

/// The part that files in arch/ share when they write their graphs. Names of tensors are whole.
class CodecBuilder : public GraphBuilder {
 public:
  /// REQUIRES: the file outlives the builder.
  explicit CodecBuilder(const TensorFile& file) : file_(file) {}

  /// A causal convolution, [T, n] -> [T, out], by name + ".weight" [out, n, taps], which the
  /// checkpoint may have as a weight norm in either of torch's spellings, and name + ".bias".
  ValueId convolution(ValueId x, const std::string& name, uint32_t out, uint32_t taps,
                      uint32_t dilation = 1);
  /// A transposed convolution of 2 * rate taps, [T, n] -> [T, rate * n/2], by
  /// name + ".weight" [n, 1, 2 * rate], in the same ways, and name + ".bias".
  ValueId upsampled(ValueId x, const std::string& name, uint32_t rate);
  /// With the rates `name` [1, n/2, 1].
  ValueId snake(ValueId x, const std::string& name);

 private:
  ValueId floats(const std::string& name, uint32_t size);
  ValueId weight(const std::string& name, const std::vector<uint64_t>& shape);
  /// The tensor; null after a mistake.
  const TensorInfo* stored(const std::string& name, const std::vector<uint64_t>& shape);

  const TensorFile& file_;
};

}  // namespace tokamak
