// References: llama.cpp's src/llama-vocab.cpp, which looks for the same texts, but for those that
// fill in the middle of code; the generation_config.json of the models.
#include "text/tokenizer/gguf_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace tokamak {
namespace {

using Id = std::optional<uint32_t> GgufVocab::*;

struct Role {
  std::string_view key;
  Id id;
};
constexpr Role kRoles[] = {
    {"bos_token_id", &GgufVocab::bos},
    {"eos_token_id", &GgufVocab::eos},
    {"eot_token_id", &GgufVocab::eot},
    {"eom_token_id", &GgufVocab::eom},
    {"unknown_token_id", &GgufVocab::unk},
    {"seperator_token_id", &GgufVocab::sep},  // as the format spells it
    {"padding_token_id", &GgufVocab::pad},
    {"mask_token_id", &GgufVocab::mask},
};

struct Default {
  std::string_view model;
  Id id;
  uint32_t value;
};
constexpr Default kDefaults[] = {
    {"llama", &GgufVocab::unk, 0},  {"llama", &GgufVocab::bos, 1},   {"llama", &GgufVocab::eos, 2},
    {"t5", &GgufVocab::pad, 0},     {"t5", &GgufVocab::eos, 1},      {"t5", &GgufVocab::unk, 2},
    {"bert", &GgufVocab::pad, 0},   {"bert", &GgufVocab::unk, 100},  {"bert", &GgufVocab::bos, 101},
    {"bert", &GgufVocab::sep, 102}, {"bert", &GgufVocab::mask, 103},
};

const Default* find_default(const GgufVocab& vocab, Id id) {
  const auto found = std::ranges::find_if(kDefaults, [&](const Default& one) {
    return one.model == vocab.model && one.id == id && one.value < vocab.tokens.size();
  });
  return found == std::end(kDefaults) ? nullptr : found;
}

constexpr int32_t kControl = 3, kUserDefined = 4;

/// `marked`: Gemma has a user-defined token for each tag of HTML, "</s>" among them; only a control
/// token of such a text ends anything.
struct EndText {
  std::string_view text;
  bool marked = false;
};
constexpr EndText kEndTexts[] = {
    {"<end_of_turn>"},
    {"<turn|>"},
    {"<|tool_response>"},  // Gemma 4 waits for what a tool says
    {"<|end_of_text|>"},
    {"<|endoftext|>"},
    {"<|end|>"},
    {"<|eom_id|>"},
    {"<|eot_id|>"},
    {"<|eom|>"},
    {"<|eot|>"},
    {"<|im_end|>"},
    {"<|return|>"},
    {"<|call|>"},
    {"<|observation|>"},
    {"<|END_OF_TURN_TOKEN|>"},
    {"<|calls|>"},
    {"<|flush|>"},
    {"<end_of_utterance>"},
    {"<EOT>"},
    {"_<EOT>"},
    {"\u2581<EOT>"},
    {"[EOT]"},
    {"[EOS]", true},
    {"<eos>", true},
    {"</s>", true},
};

bool ends_by_text(std::string_view text, int32_t type) {
  if (type != kControl && type != kUserDefined) return false;
  const auto found = std::ranges::find(kEndTexts, text, &EndText::text);
  return found != std::end(kEndTexts) && (!found->marked || type == kControl);
}

/// Drops ends that the other ends of a vocabulary rule out: "<|end|>" closes a message inside an
/// answer where "<|return|>" or "<|flush|>" closes the answer; "</s>" is a tag in Gemma 4's.
void drop_false_ends(const GgufVocab& vocab, std::vector<uint32_t>& ids) {
  const auto has = [&](std::string_view text) {
    return std::ranges::any_of(ids, [&](uint32_t id) { return vocab.tokens[id] == text; });
  };
  const auto drop = [&](std::string_view text) {
    std::erase_if(ids, [&](uint32_t id) { return vocab.tokens[id] == text; });
  };
  const bool calls = has("<|call|>") || has("<|calls|>");
  if (calls && (has("<|return|>") || has("<|flush|>"))) drop("<|end|>");
  if (has("<|tool_response>")) drop("</s>");
}

}  // namespace

std::vector<std::string> settle_roles(GgufVocab& vocab) {
  std::vector<std::string> taken;
  for (const Role& role : kRoles) {
    std::optional<uint32_t>& id = vocab.*role.id;
    const Default* instead = find_default(vocab, role.id);
    if (id && *id >= vocab.tokens.size()) {
      taken.push_back(
          fmt::format("\"tokenizer.ggml.{}\" is {}, but the vocabulary has {} tokens; {}.",
                      role.key, *id, vocab.tokens.size(),
                      instead == nullptr ? "it is ignored"
                                         : fmt::format("{} is used instead", instead->value)));
      id.reset();
    }
    if (!id && instead != nullptr) id = instead->value;
  }
  std::erase_if(vocab.more_ends, [&](uint32_t id) { return id >= vocab.tokens.size(); });
  return taken;
}

std::vector<uint32_t> gguf_end_ids(const GgufVocab& vocab) {
  std::vector<uint32_t> ids, by_text;
  const auto add = [&](std::optional<uint32_t> id) {
    if (id && *id < vocab.tokens.size() && std::ranges::find(ids, *id) == ids.end()) {
      ids.push_back(*id);
    }
  };
  for (size_t i = 0; i < std::min(vocab.tokens.size(), vocab.token_types.size()); ++i) {
    if (ends_by_text(vocab.tokens[i], vocab.token_types[i])) by_text.push_back(uint32_t(i));
  }
  drop_false_ends(vocab, by_text);
  add(vocab.eos);
  add(vocab.eot);
  add(vocab.eom);
  for (const uint32_t id : vocab.more_ends) add(id);
  for (const uint32_t id : by_text) add(id);
  return ids;
}

}  // namespace tokamak
