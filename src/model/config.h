// Reads fields of config.json and its relatives. What the file says decides: a value of the wrong
// kind, out of range or unknown is an error that names the file and the field, never ignored.
//
// The first mistake is kept and every later read gives a default, so that a reader is a plain list:
//   ConfigReader config(json, "config.json");
//   c.hidden = config.size("hidden_size");
//   TOK_TRY(config.status());
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tokamak {

/// Gives the text of a file of the model, named from its folder; "" when there is no such file.
using ReadText = std::function<Result<std::string>(const std::string& file)>;

/// That file as JSON; nothing when there is no such file. Errors name it.
Result<std::optional<Json>> read_json(const ReadText& read, const std::string& file);

class ConfigReader {
 public:
  /// REQUIRES: `json` outlives the reader. `where` is shown in messages.
  ConfigReader(const Json& json, std::string where);

  /// A positive integer below 2^31.
  uint32_t size(std::string_view name, std::optional<uint32_t> otherwise = {});
  /// An integer from 0 to below 2^31.
  uint32_t count(std::string_view name, uint32_t otherwise);
  /// A finite number above 0.
  double positive(std::string_view name, std::optional<double> otherwise = {});
  /// A number from 0 to 1.
  double share(std::string_view name, double otherwise);
  bool flag(std::string_view name, bool otherwise);
  std::string word(std::string_view name, std::optional<std::string> otherwise = {});
  /// One integer or a list of integers, each >= 0. `what` they are is shown in messages.
  std::vector<uint32_t> ids(std::string_view name, std::string_view what = "token id");
  /// A list, perhaps empty, of integers from 0 to below 2^31.
  std::vector<uint32_t> counts(std::string_view name);
  std::vector<std::string> words(std::string_view name);
  /// A list of exactly `count` numbers above 0.
  std::vector<double> positives(std::string_view name, size_t count);

  /// True when the field is there and not null.
  bool has(std::string_view name) const;
  /// True when the field is there, null or not: for fields in which null says something else than
  /// silence.
  bool mentions(std::string_view name) const { return json_.find(name) != nullptr; }
  /// Null when absent or null.
  const Json* find(std::string_view name) const;
  /// A reader of an object below this one; keeps its own status.
  ConfigReader at(std::string_view name) const;

  const std::string& where() const { return where_; }
  std::string path(std::string_view name) const;

  /// Keeps the first error.
  void reject(Error error);
  /// The same of another reader's, if it has one.
  void adopt(const Result<void>& status);
  Result<void> status() const;

 private:
  const Json* field(std::string_view name, bool required, std::string_view expected);
  void wrong(std::string_view name, const Json& found, std::string_view expected);

  const Json& json_;
  std::string where_;
  std::optional<Error> error_;
};

}  // namespace tokamak
