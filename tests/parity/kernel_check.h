// One kernel against the CPU reference, on every case that it takes.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/backend.h"

namespace tokamak::parity {

std::vector<const KernelVariant*> variants_for(BackendKind backend);

/// Its name with "_" for ".".
std::string test_name(const testing::TestParamInfo<const KernelVariant*>& info);

/// Fails the running test where a result is not within its tolerance. TOKAMAK_PARITY=smallest: the
/// case with the least work alone; TOKAMAK_PARITY_EVERY=n: every n-th; all of them otherwise.
void check(const KernelVariant& variant, Backend& backend);

}  // namespace tokamak::parity
