#include "base/system/folders.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <optional>

#include "base/environment.h"

namespace tokamak {
namespace {

/// Sets a variable for as long as it lives; null: it is not set.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name), before_(given_variable(name)) {
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

TEST(Folders, TheEnvironmentDecides) {
  const Variable home("HOME", "/h");
  const Variable own("TOKAMAK_CACHE_DIR", nullptr), cache("XDG_CACHE_HOME", nullptr);
  const Variable data("XDG_DATA_HOME", nullptr);
  EXPECT_EQ(cache_folder("x"), "/h/.cache/tokamak/x");
  EXPECT_EQ(data_folder(), "/h/.local/share/tokamak");
  {
    const Variable xdg_cache("XDG_CACHE_HOME", "/größe"), xdg_data("XDG_DATA_HOME", "/d");
    EXPECT_EQ(cache_folder("x"), "/größe/tokamak/x");
    EXPECT_EQ(data_folder(), "/d/tokamak");
    const Variable first("TOKAMAK_CACHE_DIR", "/own");
    EXPECT_EQ(cache_folder("x"), "/own/x");
  }
  const Variable nobody("HOME", nullptr);
  EXPECT_EQ(cache_folder("x"), "");
  EXPECT_EQ(data_folder(), "");
}

TEST(Folders, RecognizesWhereThisProgramIs) {
  EXPECT_TRUE(std::filesystem::exists(executable_folder() + "/base_test"));
  EXPECT_EQ(library_folder(), "");
}

}  // namespace
}  // namespace tokamak
