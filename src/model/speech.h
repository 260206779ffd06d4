// Models that write down what they hear: an encoder over a sound, in stages that run once for it,
// and a decoder of text, which attends to what the last stage has left. One file per family in
// arch/.
//
// A stage is a graph with as many rows as come out of it: convolutions change their number. Its
// result is what the next one reads; the last one ends in the encoder's rows, and keeps the keys
// and values that each layer of the decoder makes of them in caches, which the decoder's graph,
// Architecture::build, has as well.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/model_builder.h"

namespace tokamak {

/// The input of the decoder: up to where its rows see in the caches of what was heard.
inline constexpr std::string_view kHeardEnds = "heard_ends";

struct SoundStage {
  Graph graph;
  uint32_t max_rows = 1;   // that come out
  Unfold reads;            // how its convolution goes over the rows that it reads,
  uint32_t pad_after = 0;  // and how many zeros that finds after them

  /// How many rows come out when that many go in.
  uint32_t rows_of(uint32_t rows) const;
};

/// The name of the rows that stage `index` reads.
std::string stage_input(size_t index);

/// The name of the input that has, for each row of the encoder, the first row that is `ahead` or
/// more ahead of it: up to where it sees.
std::string ahead_input(uint32_t ahead);

/// The input of the first stage.
enum class SoundInput : uint8_t {
  kSamples,  // a row is a sample
  kLogMel,   // log-mel features of a window of one length
  kFrames,   // frames of samples of equal loudness (audio/frames.h)
};

struct SpeechModel {
  std::vector<SoundStage> stages;
  SoundInput input = SoundInput::kSamples;
  uint32_t max_samples = 0;  // of a window
  uint32_t bins = 0;         // of log-mel features
  float gain = 1;            // of frames
  uint32_t start = 0;        // the first token of every text
  /// Most tokens of a text for a second of sound; 0: as many as there are positions.
  double tokens_per_second = 0;
  /// How far rows of the encoder see ahead of themselves, in windows: the host says up to where.
  std::set<uint32_t> aheads;

  /// Fewest rows of the first stage that give one of the encoder.
  uint32_t min_rows() const;
};

/// The part that files in arch/ share when they write their graphs.
class SpeechBuilder : public ModelBuilder {
 public:
  /// REQUIRES: the file outlives the builder. `frames`: most rows of the encoder.
  SpeechBuilder(const TensorFile& file, const BuildOptions& options, const std::string& prefix,
                uint32_t frames)
      : ModelBuilder(file, options, prefix), kv_dtype_(options.kv_dtype), frames_(frames) {}

  /// A convolution over what stage `index` reads, [rows, columns] -> [T, out]; its weights are
  /// name + ".weight" [out, columns, taps] and, where `bias`, name + ".bias".
  ValueId convolution(size_t index, uint32_t rows, uint32_t columns, std::string_view name,
                      uint32_t out, const Unfold& op, bool bias);

  /// Every row of the encoder sees all others.
  ValueId attention_both_ways(ValueId q, ValueId k, ValueId v, uint32_t head_dim);

  /// It sees those less than `back` rows before it and less than `ahead` rows after it, and itself.
  ValueId attention_in_window(ValueId q, ValueId k, ValueId v, uint32_t head_dim, uint32_t back,
                              uint32_t ahead);

  /// Keeps the keys and values that layer `layer` of the decoder will attend to.
  void keep(uint32_t layer, ValueId k, ValueId v, uint32_t head_dim);
  /// Its attention to that, in the decoder's graph.
  ValueId cross_attention(uint32_t layer, ValueId q, uint32_t heads, uint32_t head_dim);

 private:
  ValueId pages();
  /// The encoder's cache with these keys and values.
  ValueId appended(ValueId k, ValueId v, uint32_t head_dim);
  ValueId cache(const std::string& name, uint32_t heads, uint32_t head_dim);

  DType kv_dtype_;
  uint32_t frames_;
  std::optional<ValueId> pages_, ends_, own_cache_;
  std::map<uint32_t, ValueId> aheads_;
};

}  // namespace tokamak
