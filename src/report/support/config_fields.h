// Which fields of a config an architecture reads, found by changing them: one whose change changes
// nothing is not read. So no reader has to keep a list.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/wishes.h"
#include "model/arch.h"

namespace tokamak {

/// Why an architecture of that name need not read the field "rope_scaling.type", by its last name;
/// "" where it has to.
std::string_view ignored_reason(std::string_view path, std::string_view architecture);

/// All fields, those of objects within as "text_config.hidden_size", in the order of the file.
std::vector<std::string> field_paths(const Json& config);

/// The value there. REQUIRES: the path is one of field_paths().
const Json& field_at(const Json& config, std::string_view path);

/// Finds the fields of a config that decide something of an architecture. The config outlives it.
class FieldTrials {
 public:
  FieldTrials(const Architecture& architecture, const Json& config, Wishes::Names promised);

  /// Why the architecture refuses the config; "" where it does not.
  const std::string& refusal() const { return refusal_; }

  /// Whether the field has an ignored_reason().
  bool ignores(std::string_view path) const;

  /// Whether one of these values in place of the one at `path` changes anything, in the config as
  /// it is or with one of its switches the other way round: windows are read where they are on.
  /// REQUIRES: the path is one of field_paths().
  bool decides(const std::string& path, std::span<const Json> others);

  /// Fields that are not read and have no ignored_reason(). Objects of which nothing is read stand
  /// for their fields.
  std::vector<std::string> unread();

 private:
  struct Setting {
    Json config;
    std::string facts;
    std::string whole;  // with the graphs; "" until the facts do not show a difference
  };
  bool shows(Setting& setting, const Json& changed) const;

  const Architecture& architecture_;
  Wishes::Names promised_;
  std::string refusal_;
  std::vector<Setting> settings_;  // the config first
};

}  // namespace tokamak
