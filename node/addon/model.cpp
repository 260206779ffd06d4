// Opening and closing models; tokens and chats.
#include "model.h"

#include <utility>

namespace tokamak::node {
namespace {

using Options = Owned<tokamak_options, tokamak_options_free>;

/// The target of what a model reports while it is opened, and as long as it lives.
struct Reports {
  std::shared_ptr<Addon> addon;
  Kept on_progress, on_notice;
  std::shared_ptr<Cancellation> cancellation;
};

bool report_progress(void* user, tokamak_load_phase phase, uint64_t done, uint64_t total) {
  const auto& reports = *static_cast<const Reports*>(user);
  reports.addon->post([report = reports.on_progress, phase, done, total](napi_env env) {
    const napi_value arguments[] = {number_value(env, phase),
                                    number_value(env, static_cast<double>(done)),
                                    number_value(env, static_cast<double>(total))};
    report.call(env, arguments);
  });
  return !reports.cancellation->is_cancelled();
}

void report_notice(void* user, const char* text) {
  const auto& reports = *static_cast<const Reports*>(user);
  reports.addon->post([report = reports.on_notice, own = std::string(text)](napi_env env) {
    const napi_value argument = text_value(env, own);
    report.call(env, {&argument, 1});
  });
}

Result<std::shared_ptr<tokamak_model>> open_model(const std::vector<std::string>& pairs,
                                                  std::shared_ptr<Reports> reports) {
  const Options options(tokamak_options_new());
  if (auto set = set_all(tokamak_options_set, options.get(), pairs); !set) {
    return std::unexpected(set.error());
  }
  tokamak_options_on_progress(options.get(), report_progress, reports.get());
  if (reports->on_notice) {
    tokamak_options_on_notice(options.get(), report_notice, reports.get());
  }
  ErrorSlot error;
  tokamak_model* model = tokamak_model_open(options.get(), error);
  if (model == nullptr) return error.failure();
  // The list of models that are watched keeps this function: it drops the reports itself.
  return std::shared_ptr<tokamak_model>(model,
                                        [kept = std::move(reports)](tokamak_model* own) mutable {
                                          tokamak_model_free(own);
                                          kept.reset();
                                        });
}

}  // namespace

Result<std::shared_ptr<tokamak_model>> Model::open() const {
  if (model_ == nullptr) return std::unexpected(Failure{TOKAMAK_USAGE, "The model is closed."});
  return model_;
}

ModelArguments::ModelArguments(napi_env env, napi_callback_info info) : Arguments(env, info) {
  const auto handle = this->handle<Model>(0, "model");
  if (handle == nullptr) return;
  if (auto found = handle->open()) {
    model_ = *std::move(found);
  } else {
    refuse(found.error());
  }
}

/// open(options, onProgress, onNotice, cancellation): the model and its details.
napi_value open(napi_env env, napi_callback_info info) {
  Arguments in(env, info);
  const auto pairs = in.options(0);
  auto reports = std::make_shared<Reports>(Addon::of(env), in.function(1), in.function(2),
                                           in.handle<Cancellation>(3, "cancellation"));
  if (in.has_failed()) return in.raise();
  return promise_of(env, "tokamak.open", [pairs, reports]() -> Result<Finish> {
    const auto model = open_model(pairs, reports);
    if (!model) return std::unexpected(model.error());
    const std::string details = tokamak_model_details(model->get());
    return [model = *model, details](napi_env later) {
      Addon::of(later)->watch(model);
      const napi_value members[] = {handle_value(later, std::make_shared<Model>(model)),
                                    text_value(later, details)};
      return array_value(later, members);
    };
  });
}

/// close(model): what runs ends as cancelled, and the memory is freed when its calls have returned.
napi_value close(napi_env env, napi_callback_info info) {
  Arguments in(env, info);
  const auto handle = in.handle<Model>(0, "model");
  if (in.has_failed()) return in.raise();
  return promise_of(env, "tokamak.close", [model = handle->give_up()]() -> Result<Finish> {
    if (model != nullptr) tokamak_model_close(model.get());
    return undefined_value;
  });
}

/// tokenize(model, text, addSpecial)
napi_value tokenize(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const std::string text = in.text(1, "text");
  const bool add_special = in.boolean(2);
  if (in.has_failed()) return in.raise();
  return promise_of(
      env, "tokamak.tokenize", [model = in.model(), text, add_special]() -> Result<Finish> {
        ErrorSlot error;
        size_t count = 0;
        const Owned<uint32_t, tokamak_ids_free> ids(
            tokamak_model_tokenize(model.get(), text.c_str(), add_special, &count, error));
        if (ids == nullptr) return error.failure();
        return [found = std::vector<uint32_t>(ids.get(), ids.get() + count)](napi_env later) {
          return ids_value(later, found);
        };
      });
}

/// detokenize(model, ids)
napi_value detokenize(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const auto given = in.ids(1, "ids");
  if (in.has_failed()) return in.raise();
  const std::vector<uint32_t> ids(given.begin(), given.end());
  return promise_of(env, "tokamak.detokenize", [model = in.model(), ids]() -> Result<Finish> {
    ErrorSlot error;
    const OwnedText text(tokamak_model_detokenize(model.get(), ids.data(), ids.size(), error));
    if (text == nullptr) return error.failure();
    return [found = std::string(text.get())](napi_env later) { return text_value(later, found); };
  });
}

/// render(model, variables)
napi_value render(napi_env env, napi_callback_info info) {
  ModelArguments in(env, info);
  const std::string variables = in.text(1, "messages");
  if (in.has_failed()) return in.raise();
  return promise_of(env, "tokamak.render", [model = in.model(), variables]() -> Result<Finish> {
    ErrorSlot error;
    const OwnedText text(tokamak_model_render_chat(model.get(), variables.c_str(), error));
    if (text == nullptr) return error.failure();
    return [found = std::string(text.get())](napi_env later) { return text_value(later, found); };
  });
}

}  // namespace tokamak::node
