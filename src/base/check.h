// TOK_CHECK: invariants of our own. On in release too: a wrong answer is worse than a stop.
// Never for input, files or devices; those are Results.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace tokamak {

[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold. Please report this.\n", file, line,
               expression);
  std::abort();
}

}  // namespace tokamak

#define TOK_CHECK(...) \
  ((__VA_ARGS__) ? static_cast<void>(0) : ::tokamak::check_failed(#__VA_ARGS__, __FILE__, __LINE__))
