// Any bytes as requests of a connection: the same requests however the bytes are cut, all within
// the limits, or a refusal.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/http/request_reader.h"

using namespace tokamak;
using namespace tokamak::serve;

namespace {

constexpr RequestReader::Limits kLimits = {
    .line_bytes = 200, .header_bytes = 500, .fields = 8, .body_bytes = 1000};

/// What the bytes say, as one text: requests, and how it ends.
std::string said(std::string_view bytes, size_t piece) {
  std::string out, unread;
  RequestReader reader(kLimits);
  for (size_t at = 0; at < bytes.size(); at += piece) {
    unread += bytes.substr(at, piece);
    for (;;) {
      reader.read(unread);
      if (reader.stage() != RequestReader::Stage::kWhole) break;
      const RequestHead& head = reader.head();
      TOK_CHECK(head.fields.size() <= kLimits.fields);
      out += head.method + ' ' + head.target + '\n';
      for (const Field& field : head.fields) out += field.name + ": " + field.value + '\n';
      const std::string body = reader.take_body();
      TOK_CHECK(body.size() <= kLimits.body_bytes);
      TOK_CHECK(!head.length || *head.length == body.size());
      out += body + '\n';
      reader = RequestReader(kLimits);
    }
    if (reader.stage() == RequestReader::Stage::kRefused) {
      TOK_CHECK(reader.refusal().status >= 400 && !reader.refusal().message.empty());
      return out + "refused";
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(input) + 1, size - 1);
  const std::string whole = said(bytes, std::max(bytes.size(), size_t{1}));
  const std::string cut = said(bytes, size_t{input[0]} % 16 + 1);
  // What comes in one piece may be refused for a later fault before an earlier request is whole.
  TOK_CHECK(cut.ends_with("refused") == whole.ends_with("refused"));
  if (!whole.ends_with("refused")) TOK_CHECK(cut == whole);
  return 0;
}
