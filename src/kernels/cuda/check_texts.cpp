// A step of the build: every text of this folder has a translation, or the build stops with the
// file and the line of what has none. All texts are one module here, so that each sees what the
// others declare; which of them a launch puts together, and with which constants, the tests see.
#include "kernels/cuda/translate.h"

int main() {
  std::vector<tokamak::ShaderPiece> pieces;
  for (const tokamak::EmbeddedFile& file : tokamak::embedded_files()) {
    const std::string path = fmt::format("src/kernels/{}", file.name);
    pieces.push_back({path, std::string(file.text)});
    if (!std::string_view(file.name).starts_with("quant/")) continue;
    // For a second matrix of a launch; lines are the same.
    pieces.push_back(
        {path, tokamak::source_text(fmt::format("{}{}", tokamak::kSecond, file.name))});
  }
  const auto text = tokamak::wgsl::translated(pieces);
  if (text) return 0;
  fmt::print(stderr, "{}\n", text.error().message);
  return 1;
}
