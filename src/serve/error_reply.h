// The error in the dialect that a path belongs to.
#pragma once
#include <string>
#include <string_view>

#include "serve/http/message.h"

namespace tokamak::serve {

/// `code`: a word for programs; "" where there is none.
Reply error_reply(std::string_view path, int status, std::string_view message,
                  std::string_view code = "");

}  // namespace tokamak::serve
