#include "backend/webgpu/dawn/quiet.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace tokamak {
namespace {

constexpr std::string_view kRemark = "artificially reduced from";

void pass_on(int held) {
  const off_t size = lseek(held, 0, SEEK_END);
  std::string text(size > 0 ? size_t(size) : 0, '\0');
  const ssize_t count = pread(held, text.data(), text.size(), 0);
  std::string_view rest = std::string_view(text).substr(0, count > 0 ? size_t(count) : 0);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    if (line.find(kRemark) == line.npos && write(STDERR_FILENO, line.data(), line.size()) < 0) {
      return;
    }
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
