// UTF-8 repair and normal forms of arbitrary bytes.
#include "text/unicode/unicode.h"

#include <cstdint>
#include <cstdlib>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace tokamak;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::string repaired = repair_utf8(text);
  require(is_valid_utf8(repaired));
  require(is_valid_utf8(text) == (repaired == text));

  std::string in_two;
  Utf8Repair repair;
  repair.push(text.substr(0, size / 2), in_two);
  repair.push(text.substr(size / 2), in_two);
  repair.finish(in_two);
  require(in_two == repaired);

  for (const NormalForm form :
       {NormalForm::kNfc, NormalForm::kNfd, NormalForm::kNfkc, NormalForm::kNfkd}) {
    const std::string once = to_normal_form(repaired, form);
    require(is_valid_utf8(once));
    require(to_normal_form(once, form) == once);
  }
  require(is_valid_utf8(to_lower(repaired)));
  return 0;
}
