#include "serve/error_reply.h"

#include "protocol/requests/routes.h"

namespace tokamak::serve {

Reply error_reply(std::string_view path, int status, std::string_view message,
                  std::string_view code) {
  const protocol::ApiError error = {
      .status = status, .message = std::string(message), .code = std::string(code)};
  return {.status = status, .body = error.body(protocol::dialect_of(path)).dump()};
}

}  // namespace tokamak::serve
