// Any bytes as requests of a connection: the same requests however the bytes are cut, all within
// the limits, and perhaps a refusal.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/http/request_reader.h"

using namespace tokamak;
using namespace tokamak::serve;

namespace {

constexpr RequestReader::Limits kLimits = {
    .line_bytes = 200, .header_bytes = 500, .fields = 8, .body_bytes = 1000};

struct Said {
  std::string requests;
  bool is_refused = false;
};

Said said(std::string_view bytes, size_t piece) {
  Said out;
  std::string unread;
  RequestReader reader(kLimits);
  for (size_t at = 0; at < bytes.size(); at += piece) {
    unread += bytes.substr(at, piece);
    for (;;) {
      reader.read(unread);
      if (reader.stage() != RequestReader::Stage::kWhole) break;
      const RequestHead& head = reader.head();
      TOK_CHECK(head.fields.size() <= kLimits.fields);
      out.requests += head.method + ' ' + head.target + '\n';
      for (const Field& field : head.fields) {
        out.requests += field.name + ": " + field.value + '\n';
      }
      const std::string body = reader.take_body();
      TOK_CHECK(body.size() <= kLimits.body_bytes);
      TOK_CHECK(!head.length || *head.length == body.size());
      out.requests += body + '\n';
      reader = RequestReader(kLimits);
    }
    if (reader.stage() == RequestReader::Stage::kRefused) {
      TOK_CHECK(reader.refusal().status >= 400 && !reader.refusal().message.empty());
      out.is_refused = true;
      return out;
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(input) + 1, size - 1);
  const Said whole = said(bytes, std::max(bytes.size(), size_t{1}));
  const Said cut = said(bytes, size_t{input[0]} % 16 + 1);
  // A fault shows before the end of a header in one piece, at its end in several.
  TOK_CHECK(whole.requests.starts_with(cut.requests) || cut.requests.starts_with(whole.requests));
  if (!whole.is_refused && !cut.is_refused) TOK_CHECK(whole.requests == cut.requests);
  return 0;
}
