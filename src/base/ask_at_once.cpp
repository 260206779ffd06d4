#include "base/ask.h"

namespace tokamak {

bool ask_until_true(const std::function<bool()>& ask, const Patience&) {
  return ask();
}

}  // namespace tokamak
