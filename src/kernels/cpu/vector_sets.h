// The instruction sets that kernels for vectors are compiled for. Which of them runs is found out
// when the program runs: the best that the processor has, unless a lesser one is asked for, as one
// does to see what another machine computes. Native builds only.
#pragma once
#include <string_view>
#include <vector>

namespace tokamak {

/// Those that this processor has, the best first: "avx512", "avx2", "sse4"; "neon".
std::vector<std::string_view> vector_sets();

/// Makes kernels for vectors take none better than `set`, in the whole process. REQUIRES: one of
/// vector_sets(), and that no kernel is running.
void limit_vectors(std::string_view set);

}  // namespace tokamak
