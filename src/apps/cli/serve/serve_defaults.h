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
  double temperature_ = 0, top_p_ = 1, min_p_ = 0, repetition_penalty_ = 1;
  uint32_t top_k_ = 0;
  std::string chat_template_, pooling_;
};

}  // namespace tokamak::cli
