// Options by name and text, for the C interface.
#pragma once
#include <string_view>

#include "tokamak/tokamak.h"

namespace tokamak {

/// Errors: a name that is not there, with those that are; a text that is no value of that kind.
Result<void> set_by_name(ModelOptions& options, std::string_view name, std::string_view value);
Result<void> set_by_name(TextRequest& request, std::string_view name, std::string_view value);
Result<void> set_by_name(LogitsOptions& options, std::string_view name, std::string_view value);
Result<void> set_by_name(EmbedOptions& options, std::string_view name, std::string_view value);
Result<void> set_by_name(RerankOptions& options, std::string_view name, std::string_view value);
Result<void> set_by_name(TranscribeOptions& options, std::string_view name, std::string_view value);
Result<void> set_by_name(SpeakOptions& options, std::string_view name, std::string_view value);

}  // namespace tokamak
