#include "api/settings.h"

#include <charconv>
#include <cmath>

#include "api/open_settings.h"
#include "base/result.h"
#include "engine/lora_files.h"

namespace tokamak {
namespace {

// read(TEXT, VALUE): the kind of value that was expected where TEXT is none, and VALUE stays; ""
// otherwise.

std::string_view read(std::string_view text, std::string& value) {
  value = text;
  return "";
}

std::string_view read(std::string_view text, std::vector<std::string>& values) {
  values.emplace_back(text);
  return "";
}

std::string_view read(std::string_view text, bool& value) {
  if (text != "true" && text != "false") return "true or false";
  value = text == "true";
  return "";
}

template <typename Number>
  requires std::is_arithmetic_v<Number>
std::string_view read(std::string_view text, Number& value) {
  Number found{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (error == std::errc() && end == text.data() + text.size()) {
    value = found;
    return "";
  }
  if (std::is_floating_point_v<Number>) return "a number";
  return std::is_signed_v<Number> ? "a whole number" : "a whole number that is not negative";
}

std::string_view read(std::string_view text, std::chrono::nanoseconds& value) {
  constexpr double kMaxSeconds = 1e9;  // thirty years, which nanoseconds can hold
  double seconds = 0;
  if (!read(text, seconds).empty() || !(seconds >= 0)) return "a number of seconds";
  value = std::chrono::nanoseconds(std::llround(std::min(seconds, kMaxSeconds) * 1e9));
  return "";
}

std::string_view read(std::string_view text, std::vector<Adapter>& values) {
  auto one = adapter_named(text);
  if (!one) return "[NAME=]FOLDER[=SCALE]";
  values.push_back({std::move(one->name), std::move(one->folder), one->scale});
  return "";
}

std::string_view read(std::string_view text, std::vector<uint32_t>& values) {
  std::vector<uint32_t> found;
  for (size_t start = 0; start < text.size();) {
    const size_t comma = std::min(text.find(',', start), text.size());
    if (!read(text.substr(start, comma - start), found.emplace_back()).empty()) {
      return "token ids with commas between them";
    }
    start = comma + 1;
  }
  values = std::move(found);
  return "";
}

std::string_view read(std::string_view text, std::vector<std::pair<uint32_t, float>>& values) {
  const size_t colon = std::min(text.find(':'), text.size());
  std::pair<uint32_t, float> one;
  if (colon == text.size() || !read(text.substr(0, colon), one.first).empty() ||
      !read(text.substr(colon + 1), one.second).empty()) {
    return "ID:BIAS";
  }
  values.push_back(one);
  return "";
}

template <typename T>
std::string_view read(std::string_view text, std::optional<T>& value) {
  T found{};
  const std::string_view expected = read(text, found);
  if (expected.empty()) value = std::move(found);
  return expected;
}

template <typename Options>
struct Setting {
  std::string_view name;
  std::string_view (*set)(Options&, std::string_view text);
};

template <auto kMember, typename Options>
std::string_view set(Options& options, std::string_view text) {
  return read(text, options.*kMember);
}

constexpr Setting<TextRequest> kRequestSettings[] = {
    {"prompt", set<&TextRequest::prompt>},
    {"suffix", set<&TextRequest::suffix>},
    {"chat_variables", set<&TextRequest::chat_variables>},
    {"max_tokens", set<&TextRequest::max_tokens>},
    {"temperature", set<&TextRequest::temperature>},
    {"top_k", set<&TextRequest::top_k>},
    {"top_p", set<&TextRequest::top_p>},
    {"min_p", set<&TextRequest::min_p>},
    {"typical_p", set<&TextRequest::typical_p>},
    {"repetition_penalty", set<&TextRequest::repetition_penalty>},
    {"presence_penalty", set<&TextRequest::presence_penalty>},
    {"frequency_penalty", set<&TextRequest::frequency_penalty>},
    {"logit_bias", set<&TextRequest::logit_bias>},
    {"seed", set<&TextRequest::seed>},
    {"stop", set<&TextRequest::stop>},
    {"end_ids", set<&TextRequest::end_ids>},
    {"min_tokens", set<&TextRequest::min_tokens>},
    {"logprobs", set<&TextRequest::logprobs>},
    {"top_logprobs", set<&TextRequest::top_logprobs>},
    {"prompt_logprobs", set<&TextRequest::prompt_logprobs>},
    {"grammar", set<&TextRequest::grammar>},
    {"json_schema", set<&TextRequest::json_schema>},
    {"regex", set<&TextRequest::regex>},
    {"choices", set<&TextRequest::choices>},
    {"separate_reasoning", set<&TextRequest::separate_reasoning>},
    {"priority", set<&TextRequest::priority>},
    {"deadline", set<&TextRequest::deadline>},
    {"tenant", set<&TextRequest::tenant>},
    {"adapter", set<&TextRequest::adapter>},
};

constexpr Setting<LogitsOptions> kLogitsSettings[] = {
    {"all", set<&LogitsOptions::all>},
    {"adapter", set<&LogitsOptions::adapter>},
};

constexpr Setting<EmbedOptions> kEmbedSettings[] = {
    {"prompt", set<&EmbedOptions::prompt>},
    {"dimensions", set<&EmbedOptions::dimensions>},
    {"normalize", set<&EmbedOptions::normalize>},
    {"truncate", set<&EmbedOptions::truncate>},
};

constexpr Setting<RerankOptions> kRerankSettings[] = {
    {"instruction", set<&RerankOptions::instruction>},
    {"truncate", set<&RerankOptions::truncate>},
};

constexpr Setting<TranscribeOptions> kTranscribeSettings[] = {
    {"language", set<&TranscribeOptions::language>},
    {"translate", set<&TranscribeOptions::translate>},
    {"prompt", set<&TranscribeOptions::prompt>},
    {"temperature", set<&TranscribeOptions::temperature>},
    {"fallback", set<&TranscribeOptions::fallback>},
    {"timestamps", set<&TranscribeOptions::timestamps>},
    {"seed", set<&TranscribeOptions::seed>},
};

constexpr Setting<SpeakOptions> kSpeakSettings[] = {
    {"codec", set<&SpeakOptions::codec>},
    {"language", set<&SpeakOptions::language>},
    {"max_tokens", set<&SpeakOptions::max_tokens>},
    {"temperature", set<&SpeakOptions::temperature>},
    {"top_k", set<&SpeakOptions::top_k>},
    {"top_p", set<&SpeakOptions::top_p>},
    {"repetition_penalty", set<&SpeakOptions::repetition_penalty>},
    {"seed", set<&SpeakOptions::seed>},
};

/// Looks for an option by its name, and sets it.
class Search {
 public:
  Search(std::string_view name, std::string_view text) : name_(name), text_(text) {}

  /// `set`: gives what the option expects instead of the text; "" where it has taken it.
  template <typename Set>
  void look_at(std::string_view name, const Set& set) {
    names_.append(names_.empty() ? "" : ", ").append(name);
    if (name == name_) expected_ = set(text_);
  }
  Result<void> result() const {
    if (!expected_)
      return fail(ErrorCode::kUsage, "There is no option \"{}\", but {}.", name_, names_);
    if (expected_->empty()) return {};
    return fail(ErrorCode::kUsage, "{} is \"{}\", expected {}.", name_, text_, *expected_);
  }

 private:
  std::string_view name_, text_;
  std::string names_;
  std::optional<std::string_view> expected_;
};

template <typename Options>
Result<void> set_of(std::span<const Setting<Options>> settings, Options& options,
                    std::string_view name, std::string_view text) {
  Search search(name, text);
  for (const Setting<Options>& setting : settings) {
    search.look_at(setting.name, [&](std::string_view own) { return setting.set(options, own); });
  }
  return search.result();
}

/// More devices, after those that an earlier call has named.
std::string_view add_gpus(std::string_view text, std::vector<uint32_t>& gpus) {
  std::vector<uint32_t> more;
  if (!read(text, more).empty()) return "numbers of devices with commas between them";
  gpus.insert(gpus.end(), more.begin(), more.end());
  return "";
}

}  // namespace

Result<void> set_by_name(ModelOptions& options, std::string_view name, std::string_view value) {
  Search search(name, value);
  const auto look_at = [&](std::string_view own, auto& member) {
    search.look_at(own, [&](std::string_view text) {
      if constexpr (std::is_same_v<decltype(member), std::vector<uint32_t>&>) {
        return add_gpus(text, member);
      } else {
        return read(text, member);
      }
    });
  };
  visit_open_options(look_at, options);
  look_at("adapter", options.adapters);
  look_at("has_thread", options.has_thread);
  return search.result();
}

Result<void> set_by_name(TextRequest& request, std::string_view name, std::string_view value) {
  return set_of<TextRequest>(kRequestSettings, request, name, value);
}

Result<void> set_by_name(LogitsOptions& options, std::string_view name, std::string_view value) {
  return set_of<LogitsOptions>(kLogitsSettings, options, name, value);
}

Result<void> set_by_name(EmbedOptions& options, std::string_view name, std::string_view value) {
  return set_of<EmbedOptions>(kEmbedSettings, options, name, value);
}

Result<void> set_by_name(RerankOptions& options, std::string_view name, std::string_view value) {
  return set_of<RerankOptions>(kRerankSettings, options, name, value);
}

Result<void> set_by_name(TranscribeOptions& options, std::string_view name,
                         std::string_view value) {
  return set_of<TranscribeOptions>(kTranscribeSettings, options, name, value);
}

Result<void> set_by_name(SpeakOptions& options, std::string_view name, std::string_view value) {
  return set_of<SpeakOptions>(kSpeakSettings, options, name, value);
}

}  // namespace tokamak
