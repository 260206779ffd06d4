// Which fields of a config an architecture reads, found by changing them: one whose change changes
// nothing is not read. So no reader has to keep a list.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "formats/wishes.h"
#include "model/arch.h"

namespace tokamak {

/// Why nobody has to read the field "rope_scaling.type", by its last name; "" where somebody does.
std::string_view ignored_reason(std::string_view path);

/// All fields, those of objects within as "text_config.hidden_size", in the order of the file.
std::vector<std::string> field_paths(const Json& config);

/// The value there. REQUIRES: the path is one of field_paths().
const Json& field_at(const Json& config, std::string_view path);

/// The config with another value there. REQUIRES: as above.
Json with_field(const Json& config, std::string_view path, Json value);

/// Fields that `architecture` does not read and that have no ignored_reason(). Objects of which
/// nothing is read stand for their fields.
std::vector<std::string> unread_fields(const Architecture& architecture, const Json& config,
                                       const Wishes::Names& promised);

}  // namespace tokamak
