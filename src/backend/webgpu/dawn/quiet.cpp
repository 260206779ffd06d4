#include "backend/webgpu/dawn/quiet.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace tokamak {
namespace {

/// Lowered limits; and how Vulkan starts without a driver, which is answered by an error of ours.
constexpr std::string_view kRemarks[] = {
    "artificially reduced from", "vkCreateInstance: Found no drivers!",
    "vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER"};

bool is_remark(std::string_view line) {
  return std::any_of(std::begin(kRemarks), std::end(kRemarks),
                     [&](std::string_view remark) { return line.contains(remark); });
}

/// Where in Dawn a warning comes from, and the empty line behind that.
bool is_continuation(std::string_view line) {
  return line.starts_with("    at ") || line == "\n";
}

void pass_on(int held) {
  const off_t size = lseek(held, 0, SEEK_END);
  std::string text(size > 0 ? size_t(size) : 0, '\0');
  const ssize_t count = pread(held, text.data(), text.size(), 0);
  std::string_view rest = std::string_view(text).substr(0, count > 0 ? size_t(count) : 0);
  bool dropping = false;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    dropping = is_remark(line) || (dropping && is_continuation(line));
    if (!dropping && write(STDERR_FILENO, line.data(), line.size()) < 0) return;
    rest.remove_prefix(end);
  }
}

}  // namespace

void without_dawn_remarks(const std::function<void()>& action) {
  const int held = memfd_create("stderr", MFD_CLOEXEC);
  const int own = held < 0 ? -1 : dup(STDERR_FILENO);
  if (own < 0 || dup2(held, STDERR_FILENO) < 0) {
    if (held >= 0) close(held);
    if (own >= 0) close(own);
    action();
    return;
  }
  action();
  dup2(own, STDERR_FILENO);
  close(own);
  pass_on(held);
  close(held);
}

}  // namespace tokamak
