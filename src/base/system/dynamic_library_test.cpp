#include "base/system/dynamic_library.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tokamak {
namespace {

TEST(DynamicLibrary, FindsWhatALibraryExports) {
  const auto library = DynamicLibrary::open("libm.so.6");
  ASSERT_TRUE(library) << library.error().message;
  const auto root = reinterpret_cast<double (*)(double)>(library->find("sqrt"));
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root(9), 3);
  EXPECT_EQ(library->find("tokamak_is_not_there"), nullptr);
}

TEST(DynamicLibrary, GivesTheReasonWhereThereIsNone) {
  const auto library = DynamicLibrary::open("libtokamak_is_not_there.so");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(library.error().message.contains("libtokamak_is_not_there.so"))
      << library.error().message;
}

}  // namespace
}  // namespace tokamak
