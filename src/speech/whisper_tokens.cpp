#include "speech/whisper_tokens.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/log_sum_exp.h"
#include "speech/language.h"

namespace tokamak {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr const char* kFile = "generation_config.json";
constexpr std::string_view kNoTimestamps = "<|notimestamps|>";

void forbid_all(std::span<float> logits) {
  std::ranges::fill(logits, kNever);
}

/// {"<|en|>": 50259, ...} without the marks around the names.
Result<std::map<std::string, uint32_t>> read_names(const ConfigReader& config,
                                                   std::string_view name) {
  std::map<std::string, uint32_t> ids;
  const Json* const field = config.find(name);
  if (field == nullptr) return ids;
  if (!field->is_object()) return invalid_input("{} is not an object.", config.path(name));
  ConfigReader own = config.at(name);
  for (const auto& [key, value] : field->as_object()) {
    ids.emplace(without_marks(key), own.count(key, 0));
  }
  TOK_TRY(own.status());
  return ids;
}

/// Token ids that a field lists, which may be none.
std::vector<uint32_t> read_ids(ConfigReader& config, std::string_view name) {
  const Json* const field = config.find(name);
  const bool is_empty = field != nullptr && field->is_array() && field->as_array().empty();
  return is_empty ? std::vector<uint32_t>() : config.ids(name);
}

}  // namespace

Result<WhisperTokens> WhisperTokens::read(const ModelDescription& description, uint32_t start,
                                          uint32_t vocab, const Tokenizer* tokenizer) {
  const bool has_file = description.generation_config.has_value();
  const auto by_name = tokenizer == nullptr ? std::nullopt : tokenizer->token_to_id(kNoTimestamps);
  if (!has_file && !by_name) {
    return invalid_input("The model has no {}, which numbers the tokens that steer it.", kFile);
  }
  // Older files have what config.json has, and leave the numbers to the tokenizer.
  ConfigReader config =
      has_file ? ConfigReader(*description.generation_config, description.origin + kFile)
               : description.reader();
  WhisperTokens t;
  t.start = start;
  const std::vector<uint32_t> ends = read_ids(config, "eos_token_id");
  t.end = ends.empty() ? config.size("eos_token_id") : ends.front();
  const bool is_old = by_name && !config.has("no_timestamps_token_id");
  t.no_timestamps = is_old ? *by_name : config.size("no_timestamps_token_id");
  t.first_timestamp = t.no_timestamps + 1;
  t.no_speech = t.no_timestamps - 1;
  if (is_old) {
    t.read_names_of(*tokenizer, vocab);
  } else {
    TOK_TRY(t.languages, read_names(config, "lang_to_id"));
    TOK_TRY(const auto tasks, read_names(config, "task_to_id"));
    if (const auto found = tasks.find("transcribe"); found != tasks.end())
      t.transcribe = found->second;
    if (const auto found = tasks.find("translate"); found != tasks.end())
      t.translate = found->second;
  }
  if (config.has("prev_sot_token_id")) t.previous = config.size("prev_sot_token_id");
  if (config.has("max_initial_timestamp_index")) {
    t.max_first_timestamp = config.count("max_initial_timestamp_index", 0);
  }
  t.suppressed = read_ids(config, "suppress_tokens");
  t.suppressed_first = read_ids(config, "begin_suppress_tokens");
  TOK_TRY(config.status());
  std::vector<uint32_t> all = {t.start, t.end, t.first_timestamp};
  for (const auto& [name, id] : t.languages) all.push_back(id);
  for (const auto& one : {t.transcribe, t.translate, t.previous}) all.push_back(one.value_or(0));
  for (const uint32_t id : all) {
    if (id >= vocab) {
      return invalid_input("{}: token {} is beyond the vocabulary of {} tokens.", config.where(),
                           id, vocab);
    }
  }
  return t;
}

void WhisperTokens::read_names_of(const Tokenizer& tokenizer, uint32_t vocab) {
  previous = tokenizer.token_to_id("<|startofprev|>");
  // The names are in the vocabularies of models for English alone, too, which are one token
  // smaller.
  constexpr uint32_t kMultilingualVocab = 51865;
  const auto end_of_languages = tokenizer.token_to_id("<|translate|>");
  if (vocab < kMultilingualVocab || !end_of_languages) return;
  translate = end_of_languages;
  transcribe = tokenizer.token_to_id("<|transcribe|>");
  for (uint32_t id = start + 1; id < *end_of_languages; ++id) {
    if (const auto token = tokenizer.token(id)) languages.emplace(without_marks(*token), id);
  }
}

std::vector<uint32_t> WhisperTokens::text_ids(std::span<const uint32_t> ids) const {
  std::vector<uint32_t> out;
  std::ranges::copy_if(ids, std::back_inserter(out), [this](uint32_t id) { return is_text(id); });
  return out;
}

const std::string& WhisperTokens::language_of(std::span<const float> logits) const {
  TOK_CHECK(!languages.empty());
  return std::ranges::max_element(languages, {},
                                  [&](const auto& one) { return logits[one.second]; })
      ->first;
}

double WhisperTokens::no_speech_prob(std::span<const float> logits) const {
  return std::exp(double(logits[no_speech]) - log_sum_exp(logits));
}

void WhisperTokens::forbid(std::span<const uint32_t> written, bool timestamps,
                           std::span<float> logits) const {
  const auto forbid_each = [&](const std::vector<uint32_t>& ids) {
    for (const uint32_t id : ids) {
      if (id < logits.size()) logits[id] = kNever;
    }
  };
  forbid_each(suppressed);
  if (written.empty()) forbid_each(suppressed_first);
  if (timestamps) forbid_by_timestamps(written, logits);
}

void WhisperTokens::forbid_by_timestamps(std::span<const uint32_t> written,
                                         std::span<float> logits) const {
  const std::span<float> texts = logits.first(first_timestamp);
  const std::span<float> times = logits.subspan(first_timestamp);
  logits[no_timestamps] = kNever;
  if (written.empty()) {
    forbid_all(texts);
    const size_t most = max_first_timestamp.value_or(times.size());
    if (most + 1 < times.size()) forbid_all(times.subspan(most + 1));
    return;
  }
  const bool after_time = is_timestamp(written.back());
  const bool after_two = written.size() < 2 || is_timestamp(written[written.size() - 2]);
  if (after_time && after_two) forbid_all(times);
  if (after_time && !after_two) forbid_all(logits.first(end));
  const auto last = std::ranges::find_if(written.rbegin(), written.rend(),
                                         [&](uint32_t id) { return is_timestamp(id); });
  if (last != written.rend()) {
    // Nothing is said in no time: only the beginning of what comes next may be the end of the last.
    const size_t passed = *last - first_timestamp + (after_time && !after_two ? 0 : 1);
    forbid_all(times.first(std::min(passed, times.size())));
  }
  if (log_sum_exp(times) > double(*std::ranges::max_element(texts))) forbid_all(texts);
}

}  // namespace tokamak
