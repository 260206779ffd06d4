// stream [MODEL [PROMPT [BACKEND]]]: continues PROMPT with a model and shows the text as it comes.
// MODEL is a folder, or "" for the model that is installed with Tokamak.
#include <tokamak/tokamak.h>

#include <cstdio>

namespace {

int report(const tokamak::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  tokamak::ModelOptions options;
  if (argc > 1) options.model = argv[1];
  if (argc > 3) options.backend = argv[3];
  const char* prompt = argc > 2 ? argv[2] : "Once upon a time";

  auto model = tokamak::Model::open(options);
  if (!model) return report(model.error());

  // Temperature 0 is always the most likely token: the same story every time.
  auto stream = model->start({.prompt = prompt, .max_tokens = 32, .temperature = 0});
  if (!stream) return report(stream.error());
  while (const auto piece = stream->next()) {
    std::fwrite(piece->text.data(), 1, piece->text.size(), stdout);
    std::fflush(stdout);
  }
  const auto result = stream->result();
  if (!result) return report(result.error());
  std::printf("\n");
}
