#include "flow.h"

#include <utility>

namespace tokamak::node {

void Flow::begin() {
  self_ = shared_from_this();
  addon_->watch(self_);
  addon_->hold();
  on_ready([](void* own) { static_cast<Flow*>(own)->announce(); }, this);
}

void Flow::announce() {
  if (is_announced_.exchange(true)) return;
  addon_->post([own = shared_from_this()](napi_env env) { own->read(env); });
}

void Flow::read(napi_env env) {
  is_announced_ = false;
  while (self_ != nullptr) {
    napi_handle_scope scope = nullptr;
    napi_open_handle_scope(env, &scope);
    napi_value part = nullptr;
    const tokamak_next next = take(env, part);
    if (next == TOKAMAK_STREAM_PIECE) part_.call(env, {&part, 1});
    if (next == TOKAMAK_STREAM_END) finish(env);
    napi_close_handle_scope(env, scope);
    if (next != TOKAMAK_STREAM_PIECE) return;
  }
}

void Flow::finish(napi_env env) {
  const auto found = result(env);
  const napi_value arguments[] = {found ? undefined_value(env) : error_value(env, found.error()),
                                  found ? *found : undefined_value(env)};
  const Kept end = end_;
  const auto own = std::exchange(self_, nullptr);
  free_all();
  end.call(env, arguments);
}

void Flow::end_early() {
  if (const auto own = std::exchange(self_, nullptr)) free_all();
}

void Flow::free_all() {
  on_ready(nullptr, nullptr);
  free_handle();
  model_.reset();
  part_ = {};
  end_ = {};
  addon_->release();
}

void Flow::cancel() {
  if (self_ != nullptr) cancel_handle();
}

}  // namespace tokamak::node
