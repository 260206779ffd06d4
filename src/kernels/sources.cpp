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

/// What the texts of codecs declare, and what they take from the kernel.
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

std::string batch_text(const BatchAccess& access) {
  const uint32_t slots = access.has_tables() ? access.layout.slots : access.slots;
  std::string text =
      fmt::format("const SLOTS = {}u;\nconst OUTPUT_ROWS = {};\n", slots, access.output_rows);
  if (access.has_tables()) text += fmt::format("const BATCH_ROWS = {}u;\n", access.layout.rows);
  if (access.writes) text += fmt::format("const IDS_OFFSET = {}u;\n", access.layout.ids_offset());
  const char* own = access.writes         ? "wgsl/next_batch.wgsl"
                    : access.has_tables() ? "wgsl/row_tables.wgsl"
                                          : "wgsl/this_batch.wgsl";
  const char* rows = access.has_tables() ? "wgsl/sequences.wgsl"
                     : access.slots > 1  ? "wgsl/one_row_each.wgsl"
                                         : "wgsl/one_sequence.wgsl";
  for (const char* name : {"wgsl/slot.wgsl", own, rows, "wgsl/step_rows.wgsl"}) {
    text += embedded_text(name);
  }
  return text;
}

std::string shader_text(Features features, const Launch& launch, size_t inputs, size_t outputs,
                        const BatchAccess& access) {
  std::string text;
  if ((features & kFeatureF16) != 0) text += "enable f16;\n";
  if ((features & kFeatureSubgroups) != 0) text += "enable subgroups;\n";
  if ((features & kFeatureSubgroupMatrix) != 0) {
    text += "enable chromium_experimental_subgroup_matrix;\n";
  }
  for (const Constant& constant : launch.constants) {
    if (const auto* value = std::get_if<uint32_t>(&constant.value)) {
      text += fmt::format("const {}: u32 = {}u;\n", constant.name, *value);
    } else {
      text += fmt::format("const {}: f32 = f32({:.9e});\n", constant.name,
                          std::get<float>(constant.value));
    }
  }
  for (size_t i = 0; i < inputs; ++i) text += fmt::format("const INPUT_{} = {};\n", i, 1 + i);
  for (size_t i = 0; i < outputs; ++i) {
    text += fmt::format("const OUTPUT_{} = {};\n", i, 1 + inputs + i);
  }
  text += batch_text(access);
  for (const std::string& source : launch.sources) {
    text += unroll_loops(source_text(source), launch.constants);
  }
  return text;
}

}  // namespace tokamak
