// A model that was opened, and what its calls have in common.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "work.h"

namespace tokamak::node {

/// A model until it is closed or collected; calls in flight have shares of their own. The
/// JavaScript thread only.
class Model final : public Handle {
 public:
  explicit Model(std::shared_ptr<tokamak_model> model) : model_(std::move(model)) {}

  /// The model; one that is closed is a failure.
  Result<std::shared_ptr<tokamak_model>> open() const;
  /// Gives away the model, if it is still there.
  std::shared_ptr<tokamak_model> give_up() { return std::move(model_); }

 private:
  std::shared_ptr<tokamak_model> model_;
};

/// The arguments of calls with a model: the first is that.
class ModelArguments : public Arguments {
 public:
  ModelArguments(napi_env env, napi_callback_info info);

  const std::shared_ptr<tokamak_model>& model() const { return model_; }

 private:
  std::shared_ptr<tokamak_model> model_;
};

napi_value open(napi_env env, napi_callback_info info);
napi_value close(napi_env env, napi_callback_info info);
napi_value tokenize(napi_env env, napi_callback_info info);
napi_value detokenize(napi_env env, napi_callback_info info);
napi_value render(napi_env env, napi_callback_info info);

napi_value embed(napi_env env, napi_callback_info info);
napi_value rerank(napi_env env, napi_callback_info info);
napi_value logits(napi_env env, napi_callback_info info);

}  // namespace tokamak::node
