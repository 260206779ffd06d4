#include "kernels/sources.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "kernels/unroll.h"
#include "kernels/words.h"

namespace tokamak {

std::string_view embedded_text(std::string_view name) {
  return find_text(embedded_files(), name);
}

namespace {

/// The names that texts of codecs declare, and that they take from the kernel.
std::set<std::string_view> codec_names() {
  std::set<std::string_view> names = {"weight_words", "own", "own_step"};
  for (const EmbeddedFile& file : embedded_files()) {
    if (!std::string_view(file.name).starts_with("quant/")) continue;
    std::string_view before;
    split_words(file.text, [&](std::string_view text, bool is_word) {
      if (text == " ") return;
      const bool declares =
          before == "fn" || before == "struct" || before == "alias" || before == "> ";
      if (is_word && declares) names.insert(text);
      before = text;
    });
  }
  return names;
}

bool is_constant(std::string_view word) {
  return std::isupper(static_cast<unsigned char>(word.front())) != 0 &&
         std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
}

}  // namespace

std::string source_text(std::string_view source) {
  if (!source.starts_with(kSecond)) return std::string(embedded_text(source));
  static const std::set<std::string_view> names = codec_names();
  std::string text;
  split_words(embedded_text(source.substr(kSecond.size())),
              [&](std::string_view part, bool is_word) {
                text += part;
                if (is_word && (names.contains(part) || is_constant(part))) text += "_2";
              });
  return text;
}

namespace {

std::string constants_text(const Launch& launch) {
  std::string text;
  for (const Constant& constant : launch.constants) {
    if (const auto* value = std::get_if<uint32_t>(&constant.value)) {
      text += fmt::format("const {}: u32 = {}u;\n", constant.name, *value);
    } else {
      text += fmt::format("const {}: f32 = f32({:.9e});\n", constant.name,
                          std::get<float>(constant.value));
    }
  }
  return text;
}

std::string bindings_text(size_t inputs, size_t outputs) {
  std::string text;
  for (size_t i = 0; i < inputs; ++i) text += fmt::format("const INPUT_{} = {};\n", i, 1 + i);
  for (size_t i = 0; i < outputs; ++i) {
    text += fmt::format("const OUTPUT_{} = {};\n", i, 1 + inputs + i);
  }
  return text;
}

std::string batch_constants(const BatchAccess& access) {
  const uint32_t slots = access.has_tables() ? access.layout.slots : access.slots;
  std::string text =
      fmt::format("const SLOTS = {}u;\nconst OUTPUT_ROWS = {};\n", slots, access.output_rows);
  if (access.has_tables()) text += fmt::format("const BATCH_ROWS = {}u;\n", access.layout.rows);
  if (access.writes) text += fmt::format("const IDS_OFFSET = {}u;\n", access.layout.ids_offset());
  return text;
}

/// The texts of the batch, and of which rows are whose.
std::vector<std::string> batch_sources(const BatchAccess& access) {
  const char* own = access.writes         ? "wgsl/next_batch.wgsl"
                    : access.has_tables() ? "wgsl/row_tables.wgsl"
                                          : "wgsl/this_batch.wgsl";
  const char* rows = access.has_tables() ? "wgsl/sequences.wgsl"
                     : access.slots > 1  ? "wgsl/one_row_each.wgsl"
                                         : "wgsl/one_sequence.wgsl";
  return {"wgsl/slot.wgsl", own, rows, "wgsl/step_rows.wgsl"};
}

}  // namespace

std::vector<ShaderPiece> shader_pieces(const Launch& launch, size_t inputs, size_t outputs,
                                       const BatchAccess& access) {
  std::vector<ShaderPiece> pieces = {{"constants", constants_text(launch)},
                                     {"binding numbers", bindings_text(inputs, outputs)},
                                     {"constants of the batch", batch_constants(access)}};
  for (const std::vector<std::string>& sources : {batch_sources(access), launch.sources}) {
    for (const std::string& source : sources) pieces.push_back({source, source_text(source)});
  }
  return pieces;
}

std::string shader_text(Features features, const Launch& launch, size_t inputs, size_t outputs,
                        const BatchAccess& access) {
  std::string text;
  if ((features & kFeatureF16) != 0) text += "enable f16;\n";
  if ((features & kFeatureSubgroups) != 0) text += "enable subgroups;\n";
  if ((features & kFeatureSubgroupMatrix) != 0) {
    text += "enable chromium_experimental_subgroup_matrix;\n";
  }
  for (const ShaderPiece& piece : shader_pieces(launch, inputs, outputs, access)) {
    text += unroll_loops(piece.text, launch.constants);
  }
  return text;
}

}  // namespace tokamak
