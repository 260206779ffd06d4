// stream [MODEL [PROMPT [BACKEND]]]: continues PROMPT with a model and shows the text as it comes.
// MODEL is a folder, or "" for the model that is installed with Tokamak.
#include <cstdio>

#include "engine/engine.h"

namespace {

int report(const tokamak::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  tokamak::OpenOptions options;
  if (argc > 1) options.model = argv[1];
  if (argc > 3) options.backend = argv[3];
  const char* prompt = argc > 2 ? argv[2] : "Once upon a time";

  auto engine = tokamak::Engine::open(options);
  if (!engine) return report(engine.error());

  tokamak::GenerationParams params;
  params.sampling.temperature = 0;  // always the most likely token: the same story every time
  params.max_tokens = 32;
  tokamak::GenerationCallbacks callbacks;
  callbacks.text = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  auto result = (*engine)->generate(prompt, params, callbacks);
  if (!result) return report(result.error());
  std::printf("\n");
}
