// The verbs that show a model and its device.
#include <algorithm>

#include "apps/web/fields.h"
#include "apps/web/host.h"
#include "apps/web/verbs.h"
#include "report/bench/bench.h"
#include "report/inspect/inspect.h"
#include "report/inspect/kernel_catalogue.h"
#include "report/profile/profile.h"
#include "report/profile/profile_page.h"
#include "report/support/support.h"
#include "tune/self_test.h"

namespace tokamak::web {
namespace {

constexpr std::pair<std::string_view, InspectView> kViews[] = {
    {"summary", InspectView::kSummary}, {"graph", InspectView::kGraph},
    {"fused", InspectView::kFused},     {"plan", InspectView::kPlan},
    {"weights", InspectView::kWeights}, {"memory", InspectView::kMemory}};
constexpr std::pair<std::string_view, InspectForm> kForms[] = {{"table", InspectForm::kTable},
                                                               {"text", InspectForm::kText},
                                                               {"dot", InspectForm::kDot},
                                                               {"json", InspectForm::kJson}};

template <typename T, size_t kCount>
Result<T> choice_of(const std::pair<std::string_view, T> (&choices)[kCount], std::string_view what,
                    std::string_view name) {
  std::string names;
  for (const auto& [known, value] : choices) {
    if (known == name) return value;
    names.append(names.empty() ? "" : ", ").append(known);
  }
  return fail(ErrorCode::kUsage, "\"{}\" is \"{}\", expected one of {}.", what, name, names);
}

}  // namespace

/// {view, form, tokens, depth} -> {text}, or {json} in the form "json"
Result<Json> inspect(State& state, const Json& options) {
  std::string view = "summary", form = "table";
  InspectRequest request;
  TOK_TRY(Fields(options)
              .take("view", view)
              .take("form", form)
              .take("tokens", request.tokens)
              .take("depth", request.depth)
              .done());
  TOK_TRY(const Seen model, seen(state));
  Json out;
  if (view == "support") {
    const std::vector<SupportRow> rows = support(model.files, {}, {});
    if (form == "json") return std::move(out.set("json", support_json(rows)));
    return std::move(out.set("text", support_text(rows)));
  }
  TOK_TRY(request.view, choice_of(kViews, "view", view));
  TOK_TRY(request.form, choice_of(kForms, "form", form));
  TOK_TRY(const std::string text,
          tokamak::inspect(model.files, model.compiled, model.device, {}, request));
  if (request.form != InspectForm::kJson) return std::move(out.set("text", text));
  TOK_TRY(Json json, Json::parse(text));
  return std::move(out.set("json", std::move(json)));
}

/// {} -> {kernels}: see kernel_catalogue()
Result<Json> kernels(State& state, const Json& options) {
  TOK_TRY(Fields(options).done());
  const auto model = seen(state);
  Json out;
  out.set("kernels", kernel_catalogue(model ? &model->compiled.main.plan : nullptr));
  return out;
}

/// {phase, step} -> see kernel_of_step()
Result<Json> kernel(State& state, const Json& options) {
  size_t phase = 0, step = 0;
  TOK_TRY(Fields(options).take("phase", phase).take("step", step).done());
  TOK_TRY(const Seen model, seen(state));
  return kernel_of_step(model.compiled.main.plan, phase, step);
}

/// {tokens, sequences, depth, repetitions, page} -> as `tokamak profile --json`, or with `page`
/// what the page of `tokamak profile --html` shows
Result<Json> profile(State& state, const Json& options) {
  ProfileOptions how;
  bool page = false;
  TOK_TRY(Fields(options)
              .take("tokens", how.tokens)
              .take("sequences", how.sequences)
              .take("depth", how.depth)
              .take("repetitions", how.repetitions)
              .take("page", page)
              .done());
  TOK_TRY(Engine* const engine, open_engine(state));
  TOK_TRY(const Profile found, tokamak::profile(*engine, how));
  if (!page) return profile_json(found);
  if (!state.roofline) {
    TOK_TRY(const std::unique_ptr<Backend> backend, open_backend(state.options));
    TOK_TRY(state.roofline, measure_roofline(*backend, steady_clock()));
  }
  return page_data(*engine, found, *state.roofline, {});
}

/// {prompts, generate, depths, repetitions, bounds, check} -> as `tokamak bench -o json`
Result<Json> bench(State& state, const Json& options) {
  BenchOptions how;
  TOK_TRY(Fields(options)
              .take("prompts", how.prompts)
              .take("generate", how.generate)
              .take("depths", how.depths)
              .take("sequences", how.sequences)
              .take("repetitions", how.repetitions)
              .take("bounds", how.bounds)
              .take("check", how.check)
              .done());
  TOK_TRY(Engine* const engine, open_engine(state));
  how.cancelled = cancelled;
  how.progress = [](const std::string& doing) {
    Json what;
    what.set("phase", "bench").set("doing", doing);
    tell("progress", what);
  };
  TOK_TRY(const BenchReport report, bench_engine(*engine, how, steady_clock()));
  return bench_json(report);
}

/// {} -> {kernels: [{kernel, cases, failure, skipped}]}: of the device, whatever model is open
Result<Json> self_test(State&, const Json& options) {
  TOK_TRY(Fields(options).done());
  TOK_TRY(const std::unique_ptr<Backend> backend, open_backend({.backend = "webgpu"}));
  TOK_TRY(const SelfTest found,
          tokamak::self_test(*backend, steady_clock(), [](size_t kernel, size_t count) {
            Json what;
            what.set("phase", "self-test").set("done", uint64_t(kernel - 1));
            what.set("total", uint64_t(count));
            tell("progress", what);
          }));
  Json::Array list;
  for (const KernelCheck& check : found.kernels) {
    Json one;
    one.set("kernel", check.kernel).set("cases", check.cases);
    one.set("failure", check.failure).set("skipped", check.skipped);
    list.push_back(std::move(one));
  }
  Json out;
  out.set("kernels", std::move(list)).set("seconds", found.seconds);
  return out;
}

}  // namespace tokamak::web
