// The beginning of a flow: at once, or by a promise where preparing it takes another thread.
#pragma once
#include <type_traits>
#include <utility>

#include "flow.h"
#include "model.h"

namespace tokamak::node {

/// Begins a flow of what `make` gives. The arguments `first` and the two after it are the function
/// for parts, that for the end, and whether `make` is called by another thread, for a promise.
template <typename Kind, typename Make>
napi_value begin_flow(napi_env env, ModelArguments& in, size_t first, const char* name, Make make) {
  using Made = typename std::invoke_result_t<Make>::value_type;
  const auto begin = [addon = Addon::of(env), model = in.model(), part = in.kept(first),
                      end = in.kept(first + 1)](napi_env own, Made made) {
    const auto flow = std::make_shared<Kind>(addon, model, part, end, std::move(made));
    flow->begin();
    return handle_value(own, flow);
  };
  if (!in.boolean(first + 2)) {
    const auto made = make();
    return made ? begin(env, *made) : throw_failure(env, made.error());
  }
  return promise_of(env, name, [begin, make]() -> Result<Finish> {
    const auto made = make();
    if (!made) return std::unexpected(made.error());
    return [begin, made = *made](napi_env later) { return begin(later, made); };
  });
}

}  // namespace tokamak::node
