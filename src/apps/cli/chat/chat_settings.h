// The settings that /set changes in a chat.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace tokamak::cli {

class ChatSettings {
 public:
  struct Entry {
    std::string_view name;
    bool is_whole;
    double (*get)(const GenerationParams&);
    void (*put)(GenerationParams&, double);
  };

  /// Errors: an unknown name, no number, a value out of range of what `params` would then be.
  Result<void> set(std::string_view name, std::string_view value, const GenerationParams& params);
  void apply(GenerationParams& params) const;
  /// One line for each: its name, and what it is.
  std::string table(const GenerationParams& params) const;

 private:
  std::vector<std::pair<const Entry*, double>> values_;
};

}  // namespace tokamak::cli
