// A matrix of noise in any type, for the kernel self-test and for tests.
#pragma once
#include <cstddef>
#include <random>
#include <vector>

#include "base/dtype.h"

namespace tokamak {

/// The bytes of [rows, columns]: weights of about -range to range. Of packed types every q occurs,
/// padding is noise as well, and some f16 scales are so small that a device might take them for 0.
std::vector<std::byte> random_matrix(DType dtype, uint64_t rows, uint64_t columns, float range,
                                     std::mt19937& random);

}  // namespace tokamak
