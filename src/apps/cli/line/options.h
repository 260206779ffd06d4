// The command line as a table: what a command's options are called, what they take, how the help
// explains them, and what is said to a mistake. Nothing runs before all of it has been checked.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tokamak::cli {

/// A fault of a value, as the message goes on after the option's name; "" when there is none.
struct Mistake {
  Mistake(std::string what) : text(std::move(what)) {}  // NOLINT: validators return texts
  Mistake(const char* what) : text(what) {}             // NOLINT
  Mistake(std::string what, ErrorCode kind) : text(std::move(what)), code(kind) {}

  std::string text;
  ErrorCode code = ErrorCode::kUsage;  // kInvalidInput: of a file that the value names
};
using Validator = std::function<Mistake(const std::string& value)>;

/// ` is "-1", expected a number from 0 to 1`
std::string not_expected(std::string_view value, std::string_view expected);

/// Numbers from `least` to `most`; whole ones where both are.
Validator in_range(int64_t least, int64_t most);
Validator in_range(int least, int most);
Validator in_range(double least, double most);
/// One of these words.
Validator one_of(std::vector<std::string> words);
/// A size as 6GiB, or with `may_be_share` a share as 70%. A number alone is bytes, of which less
/// than 1 MiB is hardly meant.
Validator size_text(bool may_be_share);
/// How long, as 30s, 5m, 12h, 30d or 2w, or 1h30m; without a unit it is in `unit`s, a letter of
/// those.
Validator time_text_of(char unit);
/// REQUIRES: that validator has taken it.
double seconds_of(std::string_view text, char unit);

/// Refuses "", which would count as if the option were not there.
Validator not_empty(const std::string& expected);

/// Options of this group are for people who work on the program: only --help-all shows them.
inline constexpr const char* kDeveloperOptions = "Developer options";

class Option {
 public:
  /// "-n,--max-tokens"; a name without dashes is that of a word that needs no option before it.
  Option(const std::string& names, std::string description, bool is_flag);

  Option* check(Validator validator);
  Option* group(std::string name);
  /// Sets the word for the value in the help: "TEXT".
  Option* type_name(std::string name);
  /// Replaces its text in the help: an option that commands share may mean a little more in one.
  Option* describe(std::string description);
  Option* required();
  Option* needs(const Option* other);
  /// One of these, as far as they are there at all.
  Option* needs_any(std::vector<const Option*> others);
  Option* excludes(const Option* other);
  /// Each of these excludes every other one.
  static void exclude_each_other(std::span<Option* const> options);
  /// The help shows the value that the variable has now.
  Option* capture_default_str();
  Option* default_val(const std::string& value);
  /// Takes the value of the variable of this name where the option is not given.
  Option* environment(std::string name);
  /// A list may also be one word: "128,512".
  Option* delimiter(char separator);

  size_t count() const { return words_.size(); }
  bool has_name(std::string_view name) const;
  /// For messages: the first long name, or MODEL.
  const std::string& name() const;

 private:
  friend class App;
  friend class HelpText;

  /// Checks what was given and puts it into the variable.
  Mistake store();
  void read_environment();
  /// The name of the option, or of the variable that stood in for it.
  const std::string& given_by() const { return is_from_environment_ ? environment_ : name(); }

  std::vector<std::string> names_;  // with their dashes
  std::string positional_, description_, group_ = "Options", type_, default_;
  std::string environment_;
  bool is_from_environment_ = false;
  bool is_flag_ = false, required_ = false, repeatable_ = false;
  char separator_ = '\0';
  std::vector<Validator> checks_;
  std::vector<const Option*> needed_, excluded_;
  std::vector<std::vector<const Option*>> needed_any_;
  std::vector<std::string> words_;                         // the values that were given
  std::function<std::string(const std::string&)> assign_;  // "" or what was expected
  std::function<std::string()> shown_;
};

/// The program with its commands, or one of them.
class App {
 public:
  App(std::string name, std::string description);

  /// A command that has commands of its own takes nothing else.
  App* add_subcommand(const std::string& name, std::string description);
  /// `variable`: a string, a number, an optional number, or a vector of either, which makes the
  /// option repeatable. It keeps its value when the option is not given.
  template <typename T>
  Option* add_option(const std::string& names, T& variable, std::string description);
  Option* add_flag(const std::string& names, bool& variable, std::string description);
  /// The end of the help: examples.
  App* footer(std::string text);
  /// Sets the group of the list of commands that shows it; "" is the first one.
  App* group(std::string name);
  /// Sets the hint for a word more than the command takes.
  App* extra_words(std::string hint);
  App* callback(std::function<void()> function);

  /// One of these must be given.
  void require_one_of(std::vector<const Option*> options);

  /// Null when there is none of that name.
  Option* find(std::string_view name) const;
  /// How often an option was given. REQUIRES: there is one of that name.
  size_t count(std::string_view option) const;
  Option* get_option(std::string_view name) const;
  const std::string& name() const { return name_; }

  /// kNothing: there was no command.
  enum class Asked : uint8_t { kCommand, kHelp, kHelpAll, kVersion, kNothing };
  struct Parsed {
    Asked asked = Asked::kCommand;
    App* command = nullptr;
  };
  /// Reads the words after the program's name and runs the command's callback. Errors are kUsage
  /// and name the option and the help that explains it.
  Result<Parsed> parse(std::span<const std::string> words);
  /// At most that many columns wide, apart from examples that are wider.
  std::string help(bool developer, size_t columns) const;
  /// "tokamak run"
  std::string full_name() const;

 private:
  friend class HelpText;

  Option* add(std::unique_ptr<Option> option);
  Failure mistake(std::string_view text, ErrorCode code = ErrorCode::kUsage) const;
  Result<void> check_company() const;
  Failure unknown_option(std::string_view word) const;
  Failure unknown_command(std::string_view word) const;
  /// A word for messages: the command that is called most like it, or what others call so.
  std::string command_hint(std::string_view word) const;
  Result<App*> command(std::string_view name);
  Result<Parsed> help_of(std::span<const std::string> words);
  Result<Asked> read(std::span<const std::string> words);
  Result<void> read_word(const std::string& word);
  /// How many of `words` belong to the option that the first one names.
  Result<size_t> read_option(std::span<const std::string> words);
  Result<void> finish();

  std::string name_, description_, footer_, group_, extra_words_;
  const App* parent_ = nullptr;
  std::vector<std::unique_ptr<App>> commands_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<const Option*> one_of_;
  std::function<void()> callback_;
};

extern template Option* App::add_option(const std::string&, std::string&, std::string);
extern template Option* App::add_option(const std::string&, int&, std::string);
extern template Option* App::add_option(const std::string&, uint32_t&, std::string);
extern template Option* App::add_option(const std::string&, uint64_t&, std::string);
extern template Option* App::add_option(const std::string&, double&, std::string);
extern template Option* App::add_option(const std::string&, std::vector<std::string>&, std::string);
extern template Option* App::add_option(const std::string&, std::vector<uint32_t>&, std::string);

}  // namespace tokamak::cli
