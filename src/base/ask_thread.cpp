#include <thread>

#include "base/ask.h"

namespace tokamak {

bool ask_until_true(const std::function<bool()>& ask, const Patience& patience) {
  const auto start = std::chrono::steady_clock::now();
  while (!ask()) {
    const auto asked_for = std::chrono::steady_clock::now() - start;
    if (asked_for >= patience.most) return false;
    if (asked_for < patience.eager) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(patience.pause);
    }
  }
  return true;
}

}  // namespace tokamak
