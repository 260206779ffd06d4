// The defaults of requests to `tokamak serve` that do not name their own values.
#pragma once
#include "apps/cli/serve/served_models.h"

namespace tokamak::cli {

class ServeDefaults {
 public:
  void add(App& command);
  /// Sampling is for all models; the template and how to pool are for the first. Errors: a template
  /// that there is not.
  Result<void> apply(std::vector<ServedModel>& models) const;

 private:
  void change(SamplingParams& sampling) const;

  App* command_ = nullptr;
  SamplingParams numbers_;
  std::string chat_template_, pooling_;
};

}  // namespace tokamak::cli
