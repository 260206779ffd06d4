// The entry points of NVRTC: a text is compiled by the compiler that built the project, with the
// emulator's device.cuh for the real one. The machine code of a text is a shared library, whose
// file is kept by the hash of all that it is made of.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "backend/cuda/api.h"
#include "base/hash.h"
#include "state.h"

using namespace tokamak::cuda;
namespace fs = std::filesystem;

namespace {

constexpr CompileStatus kOk = CompileStatus::kSuccess;
constexpr CompileStatus kDoesNotCompile = CompileStatus(6);

struct SourceFile {
  std::string name, text;
};

struct Program {
  std::vector<SourceFile> files;
  std::string log, code;
};

Program& of(CompilerProgram program) {
  return *reinterpret_cast<Program*>(program);
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr const char* kCommand =
    EMULATOR_COMPILER " -O1 -std=c++20 -shared -fPIC -fwrapv -ffp-contract=off -w";

std::string hash_of(const Program& program) {
  uint64_t hash = tokamak::hash_bytes<char>(std::string_view(kCommand));
  for (const SourceFile& file : program.files) {
    // The messages that it prints name the first file.
    hash = tokamak::hash_bytes<char>(std::string_view(file.name), hash);
    hash = tokamak::hash_bytes<char>(std::string_view(file.text), hash);
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016lx", hash);
  return text;
}

}  // namespace

uint64_t emulator::version() {
  static const uint64_t own =
      tokamak::hash_bytes<char>(std::string_view(read(EMULATOR_DEVICE)),
                                tokamak::hash_bytes<char>(std::string_view(kCommand)));
  return own;
}

extern "C" {

CompileStatus nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return kOk;
}
CompileStatus nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return kOk;
}
CompileStatus nvrtcGetSupportedArchs(int* all) {
  all[0] = 90;
  return kOk;
}
const char* nvrtcGetErrorString(CompileStatus) {
  return "the emulator's compiler does not take it";
}

CompileStatus nvrtcCreateProgram(CompilerProgram* program, const char* text, const char* name,
                                 int header_count, const char* const* headers,
                                 const char* const* header_names) {
  auto own = new Program;
  own->files.push_back({std::string(name) + ".cpp", text});
  for (int i = 0; i < header_count; ++i) {
    const bool is_ours = std::string_view(header_names[i]) == "device.cuh";
    own->files.push_back({header_names[i], is_ours ? read(EMULATOR_DEVICE) : headers[i]});
  }
  *program = reinterpret_cast<CompilerProgram>(own);
  return kOk;
}
CompileStatus nvrtcDestroyProgram(CompilerProgram* program) {
  delete &of(*program);
  *program = nullptr;
  return kOk;
}

CompileStatus nvrtcCompileProgram(CompilerProgram program, int, const char* const*) {
  static std::atomic<int> number = 0;
  Program& own = of(program);
  const fs::path folder = EMULATOR_FOLDER;
  const fs::path library = folder / (hash_of(own) + ".so");
  own.code = read(library);
  if (!own.code.empty()) return kOk;
  const fs::path work =
      folder / ("work-" + std::to_string(getpid()) + "-" + std::to_string(++number));
  fs::create_directories(work);
  for (const SourceFile& file : own.files) std::ofstream(work / file.name) << file.text;
  const std::string command =
      std::string(kCommand) + " -DEMULATOR_VERSION=" + std::to_string(emulator::version()) +
      "ull -o " + (work / "kernel.so").string() + " " + (work / own.files.front().name).string() +
      " -lm 2> " + (work / "log").string();
  const bool is_good = std::system(command.c_str()) == 0;
  own.log = read(work / "log");
  // The rename is the last step, so that a file of that name is always whole.
  if (is_good) {
    own.code = read(work / "kernel.so");
    fs::rename(work / "kernel.so", library);
  }
  fs::remove_all(work);
  return is_good ? kOk : kDoesNotCompile;
}

CompileStatus nvrtcGetProgramLogSize(CompilerProgram program, size_t* size) {
  *size = of(program).log.size() + 1;
  return kOk;
}
CompileStatus nvrtcGetProgramLog(CompilerProgram program, char* text) {
  std::memcpy(text, of(program).log.c_str(), of(program).log.size() + 1);
  return kOk;
}
CompileStatus nvrtcGetCUBINSize(CompilerProgram program, size_t* size) {
  *size = of(program).code.size();
  return kOk;
}
CompileStatus nvrtcGetCUBIN(CompilerProgram program, char* bytes) {
  std::memcpy(bytes, of(program).code.data(), of(program).code.size());
  return kOk;
}
// A text that the driver would compile once more is the same here.
CompileStatus nvrtcGetPTXSize(CompilerProgram program, size_t* size) {
  return nvrtcGetCUBINSize(program, size);
}
CompileStatus nvrtcGetPTX(CompilerProgram program, char* text) {
  return nvrtcGetCUBIN(program, text);
}

}  // extern "C"
