// Any bytes as the Content-Type of a form, up to a line end, and its body: an error, or parts
// within the body that do not overlap.
#include "protocol/requests/multipart.h"

#include <cstdint>
#include <string_view>

#include "base/check.h"

using namespace tokamak;
using namespace tokamak::protocol;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(input), size);
  const size_t line = all.find('\n');
  if (line == all.npos) return 0;
  const std::string_view body = all.substr(line + 1);
  const auto parts = read_form(all.substr(0, line), body);
  if (!parts) {
    TOK_CHECK(parts.error().status == 400 || parts.error().status == 415);
    return 0;
  }
  const char* end = body.data();
  for (const FormPart& part : *parts) {
    TOK_CHECK(part.content.data() >= end);
    end = part.content.data() + part.content.size();
    TOK_CHECK(end <= body.data() + body.size());
  }
  return 0;
}
