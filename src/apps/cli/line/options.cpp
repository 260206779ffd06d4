#include "apps/cli/line/options.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "apps/cli/line/foreign_names.h"
#include "apps/cli/line/number_of.h"
#include "base/check.h"
#include "base/environment.h"
#include "base/nearest.h"

namespace tokamak::cli {
namespace {

/// "" or what was expected.
std::string read_value(const std::string& text, std::string& variable) {
  variable = text;
  return "";
}

template <typename T>
std::string read_value(const std::string& text, T& variable) {
  const std::optional<T> value = number_of<T>(text);
  if (value) {
    variable = *value;
    return "";
  }
  if constexpr (std::is_floating_point_v<T>) return "a number";
  return fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::max());
}

template <typename T>
std::string read_value(const std::string& text, std::vector<T>& variable) {
  return read_value(text, variable.emplace_back());
}

template <typename T>
constexpr const char* kTypeName = std::is_floating_point_v<T> ? "X" : "N";
template <>
constexpr const char* kTypeName<std::string> = "TEXT";
template <typename T>
constexpr const char* kTypeName<std::vector<T>> = kTypeName<T>;

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;

template <typename T>
std::string shown(const T& value) {
  return fmt::format("{}", value);
}
template <typename T>
std::string shown(const std::vector<T>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether a word names an option: "-" is standard input, "-1" and "-.5" are numbers.
bool looks_like_option(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  return !is_digit(word[1]) && word[1] != '.';
}

std::string_view without_dashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

/// The known name that is most like it, of those that begin with the same letter; ", did you mean
/// --temp?" or "".
std::string guess(std::string_view word, std::vector<std::string_view> known) {
  const std::string_view bare = without_dashes(word);
  if (bare.size() < 2) return "";
  std::erase_if(known, [&](std::string_view name) { return without_dashes(name)[0] != bare[0]; });
  const bool is_option = word.starts_with('-');
  std::string nearest_to = is_option ? fmt::format("--{}", bare) : std::string(bare);
  std::ranges::replace(nearest_to, '_', '-');
  const std::string_view nearest = nearest_word(nearest_to, known);
  return nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest);
}

}  // namespace

Option::Option(const std::string& names, std::string description, bool is_flag)
    : description_(std::move(description)), is_flag_(is_flag) {
  for (std::string& name : split(names, ',')) {
    if (name.starts_with('-')) {
      names_.push_back(std::move(name));
    } else {
      positional_ = std::move(name);
    }
  }
}

Option* Option::check(Validator validator) {
  checks_.push_back(std::move(validator));
  return this;
}
Option* Option::group(std::string name) {
  group_ = std::move(name);
  return this;
}
Option* Option::type_name(std::string name) {
  type_ = std::move(name);
  return this;
}
Option* Option::describe(std::string description) {
  description_ = std::move(description);
  return this;
}
Option* Option::required() {
  required_ = true;
  return this;
}
Option* Option::needs(const Option* other) {
  needed_.push_back(other);
  return this;
}
Option* Option::needs_any(std::vector<const Option*> others) {
  needed_any_.push_back(std::move(others));
  return this;
}
Option* Option::excludes(const Option* other) {
  excluded_.push_back(other);
  return this;
}
void Option::exclude_each_other(std::span<Option* const> options) {
  for (size_t i = 0; i < options.size(); ++i) {
    for (Option* other : options.subspan(i + 1)) other->excludes(options[i]);
  }
}
Option* Option::capture_default_str() {
  default_ = shown_();
  return this;
}
Option* Option::default_val(const std::string& value) {
  TOK_CHECK(assign_(value).empty());
  default_ = value;
  return this;
}
Option* Option::environment(std::string name) {
  environment_ = std::move(name);
  return this;
}
void Option::read_environment() {
  if (environment_.empty() || !words_.empty()) return;
  std::string value = environment_variable(environment_.c_str());
  if (value.empty()) return;
  words_.push_back(std::move(value));
  is_from_environment_ = true;
}
Option* Option::delimiter(char separator) {
  separator_ = separator;
  return this;
}

bool Option::has_name(std::string_view name) const {
  return name == positional_ || std::ranges::find(names_, name) != names_.end();
}

const std::string& Option::name() const {
  if (!positional_.empty()) return positional_;
  const auto is_long = [](const std::string& name) { return name.starts_with("--"); };
  const auto found = std::ranges::find_if(names_, is_long);
  return found == names_.end() ? names_.front() : *found;
}

Mistake Option::store() {
  if (is_flag_) return words_.empty() ? "" : assign_("");
  if (words_.size() > 1 && !repeatable_) {
    return fmt::format(" is given {} times, expected once", words_.size());
  }
  std::vector<std::string> values;
  for (const std::string& word : words_) {
    if (separator_ == '\0') {
      values.push_back(word);
    } else {
      for (std::string& part : split(word, separator_)) values.push_back(std::move(part));
    }
  }
  for (const std::string& value : values) {
    for (const Validator& check : checks_) {
      if (Mistake mistake = check(value); !mistake.text.empty()) return mistake;
    }
    if (const std::string expected = assign_(value); !expected.empty()) {
      return not_expected(value, expected);
    }
  }
  return "";
}

App::App(std::string name, std::string description)
    : name_(std::move(name)), description_(std::move(description)) {}

App* App::add_subcommand(const std::string& name, std::string description) {
  commands_.push_back(std::make_unique<App>(name, std::move(description)));
  commands_.back()->parent_ = this;
  return commands_.back().get();
}

template <typename T>
Option* App::add_option(const std::string& names, T& variable, std::string description) {
  auto option = std::make_unique<Option>(names, std::move(description), false);
  option->type_ = kTypeName<T>;
  option->repeatable_ = kIsList<T>;
  // The first value that is given takes the place of a list's default.
  option->assign_ = [&variable, is_first = true](const std::string& text) mutable {
    if (std::exchange(is_first, false)) {
      if constexpr (kIsList<T>) variable.clear();
    }
    return read_value(text, variable);
  };
  option->shown_ = [&variable] { return shown(variable); };
  return add(std::move(option));
}

template Option* App::add_option(const std::string&, std::string&, std::string);
template Option* App::add_option(const std::string&, int&, std::string);
template Option* App::add_option(const std::string&, uint32_t&, std::string);
template Option* App::add_option(const std::string&, uint64_t&, std::string);
template Option* App::add_option(const std::string&, double&, std::string);
template Option* App::add_option(const std::string&, std::vector<std::string>&, std::string);
template Option* App::add_option(const std::string&, std::vector<uint32_t>&, std::string);

Option* App::add_flag(const std::string& names, bool& variable, std::string description) {
  auto option = std::make_unique<Option>(names, std::move(description), true);
  option->assign_ = [&variable](const std::string&) {
    variable = true;
    return std::string();
  };
  return add(std::move(option));
}

Option* App::add(std::unique_ptr<Option> option) {
  for (const std::string& name : option->names_) TOK_CHECK(find(name) == nullptr);
  options_.push_back(std::move(option));
  return options_.back().get();
}

App* App::footer(std::string text) {
  footer_ = std::move(text);
  return this;
}
App* App::group(std::string name) {
  group_ = std::move(name);
  return this;
}
App* App::extra_words(std::string hint) {
  extra_words_ = std::move(hint);
  return this;
}
App* App::callback(std::function<void()> function) {
  callback_ = std::move(function);
  return this;
}

void App::require_one_of(std::vector<const Option*> options) {
  one_of_ = std::move(options);
}

Option* App::find(std::string_view name) const {
  for (const auto& option : options_) {
    if (option->has_name(name)) return option.get();
  }
  return nullptr;
}

Option* App::get_option(std::string_view name) const {
  Option* option = find(name);
  TOK_CHECK(option != nullptr);
  return option;
}

size_t App::count(std::string_view option) const {
  return get_option(option)->count();
}

std::string App::full_name() const {
  return parent_ == nullptr ? name_ : parent_->full_name() + " " + name_;
}

Failure App::mistake(std::string_view text, ErrorCode code) const {
  if (code != ErrorCode::kUsage) return fail(code, "{}", text);
  return fail(code, "{} (see {} --help)", text, full_name());
}

Failure App::unknown_option(std::string_view word) const {
  std::vector<std::string_view> known = {"--help", "--help-all"};
  for (const auto& option : options_) {
    for (const std::string& name : option->names_) {
      if (name.starts_with("--")) known.push_back(name);
    }
  }
  const std::string_view meaning = foreign_option(word);
  return mistake(
      fmt::format("\"{}\" is not an option of {}{}", word, full_name(),
                  meaning.empty() ? guess(word, std::move(known)) : fmt::format("; {}", meaning)));
}

std::string App::command_hint(std::string_view word) const {
  if (parent_ == nullptr) {
    if (word.find('/') != word.npos || word.ends_with(".gguf")) {
      return fmt::format("; did you mean {} run {}?", name_, word);
    }
    const std::string_view meaning = foreign_command(word);
    if (!meaning.empty()) return fmt::format("; {}", meaning);
  }
  std::vector<std::string_view> known = {"help"};
  if (parent_ == nullptr) known.emplace_back("version");
  for (const auto& command : commands_) known.push_back(command->name_);
  return guess(word, std::move(known));
}

Failure App::unknown_command(std::string_view word) const {
  return mistake(fmt::format("\"{}\" is not a command{}", word, command_hint(word)));
}

Result<App*> App::command(std::string_view name) {
  for (const auto& command : commands_) {
    if (command->name_ == name) return command.get();
  }
  return unknown_command(name);
}

Result<App::Parsed> App::help_of(std::span<const std::string> words) {
  App* asked_for = this;
  for (const std::string& word : words) {
    if (asked_for->commands_.empty() || word == "help" || looks_like_option(word)) break;
    TOK_TRY(asked_for, asked_for->command(word));
  }
  return Parsed{Asked::kHelp, asked_for};
}

Result<App::Parsed> App::parse(std::span<const std::string> words) {
  const std::string& some = commands_.front()->name_;
  if (words.empty()) return Parsed{Asked::kNothing, this};
  const std::string& first = words.front();
  if (first == "-h" || first == "--help") return Parsed{Asked::kHelp, this};
  if (first == "--help-all") return Parsed{Asked::kHelpAll, this};
  if (first == "help") return help_of(words.subspan(1));
  const bool asks_version = first == "-v" || first == "--version" || first == "version";
  if (asks_version && parent_ == nullptr) return Parsed{Asked::kVersion, this};
  if (looks_like_option(first) && parent_ != nullptr) return unknown_option(first);
  if (looks_like_option(first)) {
    return mistake(
        fmt::format("\"{}\" stands before a command, expected one such as {}", first, some));
  }
  TOK_TRY(App * chosen, command(first));
  if (!chosen->commands_.empty()) return chosen->parse(words.subspan(1));
  TOK_TRY(const Asked asked, chosen->read(words.subspan(1)));
  if (asked == Asked::kCommand) {
    TOK_TRY(chosen->finish());
    chosen->callback_();
  }
  return Parsed{asked, chosen};
}

Result<App::Asked> App::read(std::span<const std::string> words) {
  bool only_words = false;
  while (!words.empty()) {
    const std::string& word = words.front();
    size_t taken = 1;
    if (only_words || !looks_like_option(word)) {
      TOK_TRY(read_word(word));
    } else if (word == "--") {
      only_words = true;
    } else if (word == "-h" || word == "--help") {
      return Asked::kHelp;
    } else if (word == "--help-all") {
      return Asked::kHelpAll;
    } else {
      TOK_TRY(taken, read_option(words));
    }
    words = words.subspan(taken);
  }
  return Asked::kCommand;
}

Result<void> App::read_word(const std::string& word) {
  const Option* full = nullptr;
  for (const auto& option : options_) {
    if (option->positional_.empty()) continue;
    if (option->words_.empty() || option->repeatable_) {
      option->words_.push_back(word);
      return {};
    }
    full = option.get();
  }
  std::string text = fmt::format("\"{}\" is a word too many", word);
  if (full != nullptr) text += fmt::format(": {} is \"{}\"", full->positional_, full->words_[0]);
  if (!extra_words_.empty()) text += "; " + extra_words_;
  return mistake(text);
}

Result<size_t> App::read_option(std::span<const std::string> words) {
  const std::string& word = words.front();
  const size_t equals = word.find('=');
  std::string name = word.substr(0, equals);
  std::optional<std::string> value;
  if (equals != word.npos) value = word.substr(equals + 1);
  Option* option = find(name);
  if (option == nullptr && !word.starts_with("--")) {
    name = word.substr(0, 2);  // -n64
    option = find(name);
    if (option != nullptr) value = word.substr(2 + (word.substr(2).starts_with('=') ? 1 : 0));
    // -temp is a misspelt --temp rather than a flag with letters after it.
    if (option != nullptr && (option->is_flag_ || !(is_digit(word[2]) || word[2] == '='))) {
      option = nullptr;
    }
  }
  if (option == nullptr) return unknown_option(equals == word.npos ? word : word.substr(0, equals));
  if (option->is_flag_) {
    if (value) return mistake(fmt::format("{}{}", name, not_expected(*value, "no value")));
    option->words_.emplace_back();
    return 1;
  }
  if (value) {
    option->words_.push_back(*std::move(value));
    return 1;
  }
  if (words.size() == 1) return mistake(fmt::format("{} needs a value ({})", name, option->type_));
  option->words_.push_back(words[1]);
  return 2;
}

Result<void> App::check_company() const {
  // A variable of the environment gives way to an option that was typed.
  const auto is_given = [](const Option* option) {
    return option->count() > 0 && !option->is_from_environment_;
  };
  const auto is_there = [](const Option* option) { return option->count() > 0; };
  for (const auto& option : options_) {
    if (!is_given(option.get())) continue;
    for (const Option* other : option->excluded_) {
      if (is_given(other)) {
        return mistake(fmt::format("{} does not go with {}", option->name(), other->name()));
      }
    }
    for (const Option* other : option->needed_) {
      if (!is_there(other)) {
        return mistake(fmt::format("{} does nothing without {}", option->name(), other->name()));
      }
    }
    for (const auto& others : option->needed_any_) {
      if (std::ranges::any_of(others, is_there)) continue;
      std::vector<std::string_view> names;
      names.reserve(others.size());
      for (const Option* other : others) names.push_back(other->name());
      return mistake(
          fmt::format("{} does nothing without {}", option->name(), fmt::join(names, " or ")));
    }
  }
  return {};
}

Result<void> App::finish() {
  for (const auto& option : options_) {
    option->read_environment();
    if (option->required_ && option->words_.empty()) {
      return mistake(fmt::format("{} is missing: {}", option->name(), option->description_));
    }
  }
  if (!one_of_.empty() && std::ranges::all_of(one_of_, std::logical_not(), &Option::count)) {
    return mistake(fmt::format("{} is missing: {}", one_of_[0]->name(), one_of_[0]->description_));
  }
  TOK_TRY(check_company());
  for (const auto& option : options_) {
    const Mistake wrong = option->store();
    if (!wrong.text.empty()) return mistake(option->given_by() + wrong.text, wrong.code);
  }
  return {};
}

}  // namespace tokamak::cli
