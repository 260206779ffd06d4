#include "backend/cuda/compile.h"

#include "kernels/cuda/translate.h"

namespace tokamak::cuda {
namespace {

/// The program of one compilation, destroyed with it.
class Compilation {
 public:
  Compilation(const CompilerApi& api, const std::string& text) : api_(api) {
    std::vector<std::string> kept;
    for (const EmbeddedFile& header : wgsl::headers()) {
      kept.emplace_back(header.text);
      kept.emplace_back(header.name);
    }
    std::vector<const char*> texts, names;
    for (size_t i = 0; i < kept.size(); i += 2) {
      texts.push_back(kept[i].c_str());
      names.push_back(kept[i + 1].c_str());
    }
    status = api_.create(&program, text.c_str(), "kernel.cu", int(texts.size()), texts.data(),
                         names.data());
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() {
    if (program != nullptr) api_.destroy(&program);
  }

  /// What NVRTC has to say of the text.
  std::string log() const {
    size_t size = 0;
    if (api_.log_size(program, &size) != CompileStatus::kSuccess || size < 2) return "";
    std::string text(size, '\0');
    api_.log(program, text.data());
    text.resize(size - 1);
    return text;
  }

  CompilerProgram program = nullptr;
  CompileStatus status = CompileStatus::kSuccess;

 private:
  const CompilerApi& api_;
};

}  // namespace

std::string architecture_name(int architecture) {
  return fmt::format("sm_{}", architecture);
}

std::vector<std::string> compile_options(int architecture) {
  return {"--gpu-architecture=" + architecture_name(architecture),
          fmt::format("--define-macro=ARCHITECTURE={}", architecture), "--std=c++20",
          "-default-device"};
}

Result<std::vector<uint8_t>> compile_text(const Compiler& compiler, std::string_view kernel,
                                          const std::string& text, int architecture) {
  Compilation compilation(compiler.api, text);
  const auto failed = [&](const std::string& why) {
    return fail(ErrorCode::kDevice, "kernel {} does not compile for {}: {}", kernel,
                architecture_name(architecture), why);
  };
  if (compilation.status != CompileStatus::kSuccess) {
    return failed(compiler.api.error_string(compilation.status));
  }
  const std::vector<std::string> options = compile_options(architecture);
  std::vector<const char*> given;
  for (const std::string& option : options) given.push_back(option.c_str());
  const CompileStatus status =
      compiler.api.compile(compilation.program, int(given.size()), given.data());
  if (status != CompileStatus::kSuccess) {
    return failed(fmt::format("{}\n{}", compiler.api.error_string(status), compilation.log()));
  }
  size_t size = 0;
  compiler.api.cubin_size(compilation.program, &size);
  std::vector<uint8_t> cubin(size);
  if (size == 0 || compiler.api.cubin(compilation.program, reinterpret_cast<char*>(cubin.data())) !=
                       CompileStatus::kSuccess) {
    return failed("there is no machine code");
  }
  return cubin;
}

}  // namespace tokamak::cuda
