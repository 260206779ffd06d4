// The file with a model's chat template.
#pragma once
#include "model/config.h"

namespace tokamak {

/// The text of chat_template.jinja, or without it the one in chat_template.json, where processors
/// of models that see kept it before; "" where there is neither. Errors name the file.
Result<std::string> read_chat_template(const ReadText& read);

}  // namespace tokamak
