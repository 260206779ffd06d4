// The page that a browser gets at "/": a chat with the model of the server.
#pragma once
#include <cstdint>
#include <span>

#include "base/embedded_file.h"
#include "serve/http/message.h"

namespace tokamak {

std::span<const EmbeddedFile> serve_page_files();

namespace serve {

/// `nonce`: another one for every answer. Only what carries it runs in the page.
Reply chat_page(uint64_t nonce);

}  // namespace serve
}  // namespace tokamak
