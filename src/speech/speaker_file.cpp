#include "speech/speaker_file.h"

#include <cstring>

#include "base/ascii.h"

namespace tokamak {
namespace {

constexpr size_t kMaxNumbers = 1 << 16;

}  // namespace

Result<std::vector<float>> speaker_of(const Json& json) {
  if (!json.is_array() || json.as_array().empty() || json.as_array().size() > kMaxNumbers) {
    return invalid_input("A speaker embedding is a list of 1 to {} numbers.", kMaxNumbers);
  }
  std::vector<float> out;
  for (const Json& number : json.as_array()) {
    if (!number.is_number()) {
      return invalid_input("A speaker embedding is a list of numbers; element {} is not a number.",
                           out.size());
    }
    out.push_back(float(number.as_number()));
  }
  return out;
}

Result<std::vector<float>> read_speaker(std::string_view file) {
  if (trimmed(file).starts_with('[')) {
    TOK_TRY(const Json json, Json::parse(file));
    return speaker_of(json);
  }
  if (file.empty() || file.size() % sizeof(float) != 0 ||
      file.size() > kMaxNumbers * sizeof(float)) {
    return invalid_input(
        "The file has {} bytes, expected a JSON array of numbers, or floats of 4 bytes.",
        file.size());
  }
  std::vector<float> out(file.size() / sizeof(float));
  std::memcpy(out.data(), file.data(), file.size());
  return out;
}

}  // namespace tokamak
