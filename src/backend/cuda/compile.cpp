#include "backend/cuda/compile.h"

#include <algorithm>

#include "kernels/cuda/translate.h"

namespace tokamak::cuda {
namespace {

/// The program of one compilation, destroyed with it.
class Compilation {
 public:
  Compilation(const CompilerApi& api, const std::string& text, std::string_view kernel)
      : api_(api) {
    const std::string file = fmt::format("{}.cu", kernel);
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
    status = api_.create(&program, text.c_str(), file.c_str(), int(texts.size()), texts.data(),
                         names.data());
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() {
    if (program != nullptr) api_.destroy(&program);
  }

  /// The messages of NVRTC about the text.
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

std::string CodeTarget::name() const {
  return fmt::format("{}_{}", is_ptx ? "compute" : "sm", architecture);
}

Result<CodeTarget> code_target(const Compiler& compiler, int driver_version, int architecture) {
  int newest = 0, newest_of_major = 0;
  for (const int known : compiler.architectures) {
    newest = std::max(newest, known);
    if (known / 10 == architecture / 10 && known <= architecture) {
      newest_of_major = std::max(newest_of_major, known);
    }
  }
  if (newest_of_major != 0) return CodeTarget{newest_of_major};
  const bool is_newer = newest != 0 && architecture > newest;
  if (is_newer && 1000 * compiler.major + 10 * compiler.minor <= driver_version) {
    return CodeTarget{newest, /*is_ptx=*/true};
  }
  return unsupported(
      "{} (NVRTC {}.{}) makes no code that a GPU of sm_{} and a driver of CUDA {} "
      "take: {}.",
      compiler.path, compiler.major, compiler.minor, architecture, version_text(driver_version),
      is_newer ? "a newer driver or a newer NVRTC is needed" : "an older NVRTC is needed");
}

std::vector<std::string> compile_options(CodeTarget target) {
  return {"--gpu-architecture=" + target.name(),
          fmt::format("--define-macro=ARCHITECTURE={}", target.architecture), "--std=c++20",
          "-default-device"};
}

Result<CompiledText> compile_text(const Compiler& compiler, std::string_view kernel,
                                  const std::string& text, CodeTarget target,
                                  const std::vector<std::string>& more) {
  Compilation compilation(compiler.api, text, kernel);
  const auto failed = [&](const std::string& why) {
    return fail(ErrorCode::kDevice, "kernel {} does not compile for {}: {}", kernel, target.name(),
                why);
  };
  if (compilation.status != CompileStatus::kSuccess) {
    return failed(compiler.api.error_string(compilation.status));
  }
  std::vector<std::string> options = compile_options(target);
  options.insert(options.end(), more.begin(), more.end());
  std::vector<const char*> given;
  for (const std::string& option : options) given.push_back(option.c_str());
  const CompileStatus status =
      compiler.api.compile(compilation.program, int(given.size()), given.data());
  if (status != CompileStatus::kSuccess) {
    return failed(fmt::format("{}\n{}", compiler.api.error_string(status), compilation.log()));
  }
  const auto size_of = target.is_ptx ? compiler.api.ptx_size : compiler.api.cubin_size;
  const auto read = target.is_ptx ? compiler.api.ptx : compiler.api.cubin;
  size_t size = 0;
  size_of(compilation.program, &size);
  CompiledText out = {.code = std::vector<uint8_t>(size), .log = compilation.log()};
  if (size == 0 || read(compilation.program, reinterpret_cast<char*>(out.code.data())) !=
                       CompileStatus::kSuccess) {
    return failed("there is no code");
  }
  return out;
}

}  // namespace tokamak::cuda
