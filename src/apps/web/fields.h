// Reads the members of the JSON object that a verb of the module is called with.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tokamak::web {

/// An absent or null member leaves the value as it is; one of another kind, and one that no
/// call of take() has asked for, is a kUsage that names it.
class Fields {
 public:
  /// REQUIRES: `json` outlives it.
  explicit Fields(const Json& json) : json_(json) {}

  template <typename T>
  Fields& take(std::string_view name, T& value) {
    const Json* given = find(name);
    if (given != nullptr && !read(*given, value)) refuse(name, *given, expected(value));
    return *this;
  }

  /// The member as it is; null where there is none.
  const Json* find(std::string_view name) {
    known_.emplace_back(name);
    const Json* found = json_.find(name);
    return found != nullptr && !found->is_null() ? found : nullptr;
  }

  /// The first error.
  Result<void> done() {
    if (!json_.is_object()) {
      return fail(ErrorCode::kUsage, "Expected an object, not {}.", kind_name(json_.kind()));
    }
    if (problem_) return Failure(*problem_);
    for (const auto& [name, value] : json_.as_object()) {
      if (std::ranges::find(known_, name) != known_.end() || value.is_null()) continue;
      return fail(ErrorCode::kUsage, "There is no option \"{}\".", name);
    }
    return {};
  }

 private:
  static bool read(const Json& json, bool& value) {
    if (json.is_bool()) value = json.as_bool();
    return json.is_bool();
  }
  static bool read(const Json& json, std::string& value) {
    if (json.is_string()) value = json.as_string();
    return json.is_string();
  }
  static bool read(const Json& json, double& value) {
    if (json.is_number()) value = json.as_number();
    return json.is_number();
  }
  template <std::integral T>
  static bool read(const Json& json, T& value) {
    if (!json.is_integer() || !std::in_range<T>(json.as_integer())) return false;
    value = T(json.as_integer());
    return true;
  }
  template <typename T>
  static bool read(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) return false;
    std::vector<T> found(json.as_array().size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (!read(json.as_array()[i], found[i])) return false;
    }
    values = std::move(found);
    return true;
  }
  template <typename T>
  static bool read(const Json& json, std::optional<T>& value) {
    T found{};
    if (!read(json, found)) return false;
    value = std::move(found);
    return true;
  }

  static std::string expected(bool) { return "true or false"; }
  static std::string expected(const std::string&) { return "a text"; }
  static std::string expected(double) { return "a number"; }
  template <std::integral T>
  static std::string expected(T) {
    return std::signed_integral<T> ? "a whole number" : "a whole number that is not negative";
  }
  template <typename T>
  static std::string expected(const std::vector<T>&) {
    return "a list, each of it " + expected(T{});
  }
  template <typename T>
  static std::string expected(const std::optional<T>&) {
    return expected(T{});
  }

  void refuse(std::string_view name, const Json& given, const std::string& expected) {
    if (problem_) return;
    problem_ = Error{ErrorCode::kUsage,
                     fmt::format("\"{}\" is {}, expected {}.", name, shown(given), expected)};
  }

  const Json& json_;
  std::vector<std::string_view> known_;
  std::optional<Error> problem_;
};

}  // namespace tokamak::web
