// The files of an encoder, with lines "---" between them: modules.json, its prompts, its
// transformer's file, then the config.json of each module. Whatever they hold must end in an error
// or an encoder.
#include "model/sentence_transformers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tokamak;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto next = [&] {
    constexpr std::string_view kBetween = "\n---\n";
    const size_t end = rest.find(kBetween);
    const std::string part(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + kBetween.size());
    return part;
  };
  const auto files = read_encoder_files([&](const std::string&) { return next(); });
  if (files && *files) (void)read_encoder(**files);
  return 0;
}
