#include "report/support/wished_model.h"

#include <fmt/ranges.h>

#include <array>
#include <bit>

#include "base/check.h"
#include "graph/text.h"

namespace tokamak {
namespace {

/// Enough for every tower's own check, and no more than a tiny config grants.
constexpr uint64_t kPixels = 1 << 20;

std::string shown(const RopeTable& rope) {
  return fmt::format("{} {} {} {}", rope.inverse_frequencies, rope.factor, rope.short_rows,
                     rope.short_frequencies);
}

std::string shown(const ModelFacts& f) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", f.architecture, f.vocab, f.layers,
                     f.max_context, f.hidden, f.causal, f.score ? int(*f.score) : -1, f.fits_f16,
                     f.hears, f.speaks, f.is_codec, shown(f.rope));
}

std::string shown(const VisionTower& t) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n",
                  t.max_patches, t.min_pixels, t.patch, t.frames, t.side, t.head_dim, t.window,
                  t.channels_last, t.clip_colours, t.image_side, t.fills_tokens, t.positions.name,
                  t.positions.shape, int(t.positions_are), t.angle_base.value_or(0),
                  t.columns_first, t.alternates, t.transposed, t.by_channel, t.sees_whole_images,
                  t.only_in_windows, t.placeholder, t.words, t.template_word, t.keeps_ratio);
  if (t.angles) {
    text += fmt::format("{} {} {} {}\n", shown(t.angles->rope), t.angles->rows, t.angles->columns,
                        t.angles->interleaved);
  }
  if (const auto* lines = std::get_if<LineMarks>(&t.parts)) {
    text += fmt::format("{}\n", lines->longest);
  } else if (const auto* tiles = std::get_if<Tiles>(&t.parts)) {
    text += fmt::format("{} {} {}\n", tiles->longest, tiles->splits, tiles->most);
  }
  for (const TowerStage& stage : t.stages) text += to_text(stage.patches) + to_text(stage.merge);
  return text;
}

std::string shown(const SpeechModel& s) {
  std::string text = fmt::format("{} {} {} {} {} {} {}\n", int(s.input), s.max_samples, s.bins,
                                 s.gain, s.start, s.tokens_per_second, s.aheads);
  for (const SoundStage& stage : s.stages) {
    text += fmt::format("{} {} {} {} {}\n{}", stage.max_rows, stage.reads.taps, stage.reads.stride,
                        stage.reads.pad, stage.pad_after, to_text(stage.graph));
  }
  return text;
}

std::string shown(const VoiceModel& v) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", v.audio_start, v.groups, v.codes, v.step,
                  v.start_of_text, v.end_of_text, v.start_of_speech, v.end_of_speech,
                  v.start_of_human, v.end_of_human, v.start_of_ai, v.speaker_size);
  for (const auto& [layer, frequencies] : v.frequencies) {
    text += fmt::format("{} {}\n", layer, frequencies);
  }
  return text;
}

std::string shown(const CodecModel& c) {
  std::string text =
      fmt::format("{} {} {} {}\n", c.sample_rate, c.samples_per_frame, c.groups, c.levels);
  for (const CodecStage& stage : c.stages) {
    text += fmt::format("{} {}\n{}", stage.rate, stage.reach, to_text(stage.graph));
  }
  return text;
}

std::string shown(const Graph& graph) {
  return to_text(graph);
}

template <typename T>
std::string shown_or_error(const Result<T>& result) {
  return result ? shown(*result) : result.error().message + "\n";
}

/// A file without tensors; a number that an architecture reads while it builds its graph is 1.
Result<TensorFile> empty_file() {
  const auto one = std::bit_cast<std::array<std::byte, sizeof(float)>>(1.0f);
  return TensorFile::make({memory_source("the wishes", {one.begin(), one.end()})}, {}, Json());
}

/// Without the names of tensors.
WishedModel build(const Architecture& architecture, const ConfigReader& config) {
  WishedModel out;
  const auto facts = architecture.facts(config);
  out.text = shown_or_error(facts);
  const auto file = empty_file();
  TOK_CHECK(file.has_value());
  BuildOptions options;
  if (facts && !facts->causal && !facts->score) options.embedding.emplace();
  if (architecture.codec != nullptr) {
    const auto codec = architecture.codec(config, *file);
    if (!codec) out.error = codec.error();
    out.text += shown_or_error(codec);
    return out;
  }
  if (architecture.speech != nullptr) {
    out.text += shown_or_error(architecture.speech(config, *file, options));
  }
  if (architecture.voice != nullptr) out.text += shown_or_error(architecture.voice(config, *file));
  if (architecture.vision != nullptr) {
    out.text += shown_or_error(architecture.vision(config, *file, {.pixels = kPixels}));
  }
  auto graph = architecture.build(config, *file, options);
  out.text += shown_or_error(graph);
  if (graph) {
    out.graph = *std::move(graph);
  } else {
    out.error = graph.error();
  }
  return out;
}

}  // namespace

std::string facts_text(const Architecture& architecture, const ConfigReader& config) {
  return shown_or_error(architecture.facts(config));
}

WishedModel wished_model(const Architecture& architecture, const ConfigReader& config,
                         Wishes::Names promised) {
  Wishes wishes(std::move(promised));
  WishedModel out = build(architecture, config);
  for (const auto& [name, tensor] : wishes.granted()) out.tensors.push_back(tensor);
  return out;
}

Wishes::Names promised_names(const TensorFile& file, const UnreadTensors& unread) {
  Wishes::Names names;
  const auto add = [&](std::string_view name) {
    names.emplace(name);
    for (const std::string_view ending : {".qweight", ".weight_packed"}) {
      if (!name.ends_with(ending)) continue;
      names.insert(std::string(name.substr(0, name.size() - ending.size())) + ".weight");
    }
  };
  for (const TensorInfo& tensor : file.tensors()) add(tensor.name);
  for (const UnreadTensor& tensor : unread) add(tensor.name);
  return names;
}

}  // namespace tokamak
