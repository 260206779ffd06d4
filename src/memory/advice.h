// The advice about a store that cannot be used as it is, in the words of the interface that people
// have: the commands of the program, or the functions of tokamak-web. CMake chooses the source.
#pragma once
#include <string_view>

namespace tokamak::memory {

struct Advice {
  std::string_view other_model;  // vectors of two models cannot be compared
  std::string_view continues;    // a rebuilding was interrupted
  std::string_view by_words;     // and meanwhile
  std::string_view bad_vectors;  // they are not as long as the model's
  std::string_view damaged;      // SQLite finds damage
};
extern const Advice kAdvice;

}  // namespace tokamak::memory
