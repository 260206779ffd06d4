#include "serve/page.h"

#include <fmt/format.h>

namespace tokamak::serve {

Reply chat_page(uint64_t nonce) {
  constexpr std::string_view kPlace = "NONCE";
  const std::string word = fmt::format("{:016x}", nonce);
  std::string page;
  std::string_view rest = find_text(serve_page_files(), "chat.html");
  for (size_t at = 0; (at = rest.find(kPlace)) != rest.npos;) {
    page += rest.substr(0, at);
    page += word;
    rest.remove_prefix(at + kPlace.size());
  }
  page += rest;
  return {.content_type = "text/html; charset=utf-8",
          .body = std::move(page),
          .fields = {{"Content-Security-Policy",
                      fmt::format(
                          "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                          "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                          "frame-ancestors 'none'",
                          word)},
                     {"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cache-Control", "no-store"}}};
}

}  // namespace tokamak::serve
