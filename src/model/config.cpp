#include "model/config.h"

#include <algorithm>
#include <cmath>

namespace tokamak {
namespace {

constexpr size_t kMaxShownBytes = 60;

const Json kEmpty{Json::Object{}};

/// An integer, in whichever type it is stored: 4096 or 4096.0. Converters to GGUF choose types
/// freely.
std::optional<int64_t> whole_number(const Json& value) {
  if (value.is_integer()) return value.as_integer();
  if (!value.is_number()) return std::nullopt;
  const double number = value.as_number();
  if (number != std::floor(number) || std::abs(number) > 1e15) return std::nullopt;
  return int64_t(number);
}

}  // namespace

Result<std::optional<Json>> read_json(const ReadText& read, const std::string& file) {
  TOK_TRY(const std::string text, read(file));
  if (text.empty()) return std::nullopt;
  auto json = Json::parse(text);
  if (!json) return Failure(json.error().within(file));
  return *std::move(json);
}

ConfigReader::ConfigReader(const Json& json, std::string where)
    : json_(json), where_(std::move(where)) {
  if (!json.is_object()) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("{}: found {}, expected an object.", where_, kind_name(json.kind()))});
  }
}

std::string ConfigReader::path(std::string_view name) const {
  return fmt::format("{}: {}", where_, name);
}

bool ConfigReader::has(std::string_view name) const {
  return find(name) != nullptr;
}

const Json* ConfigReader::find(std::string_view name) const {
  const Json* value = json_.find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

ConfigReader ConfigReader::at(std::string_view name) const {
  const Json* value = find(name);
  return ConfigReader(value == nullptr ? kEmpty : *value, fmt::format("{}: {}", where_, name));
}

void ConfigReader::reject(Error error) {
  if (!error_) error_ = std::move(error);
}

void ConfigReader::adopt(const Result<void>& status) {
  if (!status) reject(status.error());
}

Result<void> ConfigReader::status() const {
  if (error_) return Failure(*error_);
  return {};
}

const Json* ConfigReader::field(std::string_view name, bool required, std::string_view expected) {
  const Json* value = find(name);
  if (value == nullptr && required) {
    reject({ErrorCode::kInvalidInput,
            fmt::format("{} is missing, expected {}.", path(name), expected)});
  }
  return value;
}

void ConfigReader::wrong(std::string_view name, const Json& found, std::string_view expected) {
  reject({ErrorCode::kInvalidInput, fmt::format("{} is {}, expected {}.", path(name),
                                                shown(found, kMaxShownBytes), expected)});
}

uint32_t ConfigReader::size(std::string_view name, std::optional<uint32_t> otherwise) {
  constexpr std::string_view kExpected = "an integer between 1 and 2147483647";
  const Json* value = field(name, !otherwise, kExpected);
  if (value == nullptr) return otherwise.value_or(1);
  const std::optional<int64_t> number = whole_number(*value);
  if (!number || *number < 1 || *number > INT32_MAX) {
    wrong(name, *value, kExpected);
    return 1;
  }
  return uint32_t(*number);
}

uint32_t ConfigReader::count(std::string_view name, uint32_t otherwise) {
  const Json* value = find(name);
  if (value == nullptr) return otherwise;
  const std::optional<int64_t> number = whole_number(*value);
  if (!number || *number < 0 || *number > INT32_MAX) {
    wrong(name, *value, "an integer between 0 and 2147483647");
    return otherwise;
  }
  return uint32_t(*number);
}

double ConfigReader::positive(std::string_view name, std::optional<double> otherwise) {
  const Json* value = field(name, !otherwise, "a number above 0");
  if (value == nullptr) return otherwise.value_or(1.0);
  if (!value->is_number() || !(value->as_number() > 0) || !std::isfinite(value->as_number())) {
    wrong(name, *value, "a number above 0");
    return 1.0;
  }
  return value->as_number();
}

double ConfigReader::share(std::string_view name, double otherwise) {
  const Json* value = field(name, false, "");
  if (value == nullptr) return otherwise;
  if (!value->is_number() || !(value->as_number() >= 0 && value->as_number() <= 1)) {
    wrong(name, *value, "a number from 0 to 1");
    return otherwise;
  }
  return value->as_number();
}

bool ConfigReader::flag(std::string_view name, bool otherwise) {
  const Json* value = field(name, false, "");
  if (value == nullptr) return otherwise;
  if (*value == Json(0) || *value == Json(1)) return *value == Json(1);
  if (!value->is_bool()) {
    wrong(name, *value, "true or false");
    return otherwise;
  }
  return value->as_bool();
}

std::string ConfigReader::word(std::string_view name, std::optional<std::string> otherwise) {
  const Json* value = field(name, !otherwise, "a string");
  if (value == nullptr) return otherwise.value_or("");
  if (!value->is_string()) {
    wrong(name, *value, "a string");
    return otherwise.value_or("");
  }
  return value->as_string();
}

std::vector<uint32_t> ConfigReader::ids(std::string_view name, std::string_view what) {
  const Json* value = find(name);
  if (value == nullptr) return {};
  const std::string expected = fmt::format("a {0} or a list of {0}s", what);
  std::vector<uint32_t> list;
  const auto add = [&](const Json& item) {
    if (!item.is_integer() || item.as_integer() < 0 || item.as_integer() > INT32_MAX) {
      wrong(name, *value, expected);
      return;
    }
    list.push_back(uint32_t(item.as_integer()));
  };
  if (value->is_array()) {
    for (const Json& item : value->as_array()) add(item);
    if (list.empty()) wrong(name, *value, expected);
  } else {
    add(*value);
  }
  return list;
}

std::vector<uint32_t> ConfigReader::counts(std::string_view name) {
  const Json* value = find(name);
  if (value == nullptr) return {};
  std::vector<uint32_t> list;
  const auto is_count = [](const Json& item) {
    return item.is_integer() && item.as_integer() >= 0 && item.as_integer() <= INT32_MAX;
  };
  if (!value->is_array() || !std::ranges::all_of(value->as_array(), is_count)) {
    wrong(name, *value, "a list of integers between 0 and 2147483647");
    return {};
  }
  for (const Json& item : value->as_array()) list.push_back(uint32_t(item.as_integer()));
  return list;
}

std::vector<double> ConfigReader::positives(std::string_view name, size_t count) {
  const std::string expected = fmt::format("a list of {} numbers above 0", count);
  const Json* value = field(name, true, expected);
  std::vector<double> list;
  if (value != nullptr && value->is_array()) {
    for (const Json& item : value->as_array()) {
      const double number = item.is_number() ? item.as_number() : 0.0;
      if (number > 0 && std::isfinite(number)) list.push_back(number);
    }
    if (list.size() == count && value->as_array().size() == count) return list;
    reject({ErrorCode::kInvalidInput,
            fmt::format("{} has {} entries, {} of them numbers above 0; expected {}.", path(name),
                        value->as_array().size(), list.size(), expected)});
  } else if (value != nullptr) {
    wrong(name, *value, expected);
  }
  return std::vector<double>(count, 1.0);
}

std::vector<std::string> ConfigReader::words(std::string_view name) {
  const Json* value = find(name);
  std::vector<std::string> list;
  if (value == nullptr) return list;
  if (!value->is_array()) {
    wrong(name, *value, "a list of strings");
    return list;
  }
  for (const Json& item : value->as_array()) {
    if (!item.is_string()) {
      wrong(name, *value, "a list of strings");
      return list;
    }
    list.push_back(item.as_string());
  }
  return list;
}

}  // namespace tokamak
