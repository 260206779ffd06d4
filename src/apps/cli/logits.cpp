#include <cmath>

#include "apps/cli/command.h"

namespace tokamak::cli {
namespace {

struct LogitsFlags {
  ModelFlags model;
  std::string tokens;
  uint32_t steps = 0, step_size = 0;
  bool all = false, json = false;
};

/// Feeds `ids` in pieces of `step_size` (0: as large as possible); rows of all pieces if `all`.
Result<std::vector<float>> feed(Session& session, std::span<const uint32_t> ids, uint32_t step_size,
                                bool all) {
  std::vector<float> rows;
  const size_t piece = step_size == 0 ? ids.size() : step_size;
  for (size_t at = 0; at < ids.size(); at += piece) {
    TOK_TRY(const std::span<const float> logits,
            session.feed(ids.subspan(at, std::min(piece, ids.size() - at)), interrupted));
    if (!all) rows.clear();
    rows.insert(rows.end(), logits.begin(), logits.end());
  }
  return rows;
}

Result<void> run_logits(const LogitsFlags& flags) {
  TOK_TRY(const std::vector<uint32_t> ids, parse_ids(flags.tokens));
  if (ids.empty()) return fail(ErrorCode::kUsage, "--tokens is empty, expected token ids.");
  when_interrupted(OnInterrupt::kStopSoon);
  TOK_TRY(const std::unique_ptr<Engine> engine, flags.model.open(flags.all));
  TOK_TRY(Session session, engine->start());
  // The last of the steps only chooses a token.
  const uint64_t needed = ids.size() + uint64_t{std::max(flags.steps, 1u)} - 1;
  if (needed > session.context()) {
    return invalid_input(
        "--tokens has {} and --steps is {}, which takes {} positions of {} (see --context).",
        ids.size(), flags.steps, needed, session.context());
  }
  std::optional<Waiting> waiting("computing logits");
  TOK_TRY(const std::vector<float> rows, feed(session, ids, flags.step_size, flags.all));
  const size_t vocab = engine->compiled().facts.vocab;
  std::span<const float> last = std::span(rows).subspan(rows.size() - vocab);
  // Logits that are no numbers are an answer to nothing.
  if (const auto best = greedy_token(last); !best) {
    return Failure(best.error().within(engine->files().name));
  }
  std::vector<uint32_t> greedy;
  for (uint32_t step = 0; step < flags.steps; ++step) {
    TOK_TRY(const uint32_t id, greedy_token(last));
    greedy.push_back(id);
    if (step + 1 == flags.steps) break;
    TOK_TRY(const std::span<const float> next, session.feed({&id, 1}, interrupted));
    last = next.subspan(next.size() - vocab);
  }
  waiting.reset();
  if (!flags.json) {
    std::vector<uint32_t> order(vocab);
    for (uint32_t i = 0; i < vocab; ++i) order[i] = i;
    const float* values = rows.data() + (rows.size() - vocab);
    const size_t shown = std::min<size_t>(10, vocab);
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(shown), order.end(),
                      [&](uint32_t a, uint32_t b) { return values[a] > values[b]; });
    std::string text = "token       logit\n";
    for (size_t i = 0; i < shown; ++i) {
      text += fmt::format("{:<8} {:>9.4f}\n", order[i], values[order[i]]);
    }
    if (!greedy.empty()) text += "greedy: " + to_json(greedy).dump() + "\n";
    return print(text);
  }
  Json out;
  add_origin(out, *engine, flags.model.model());
  out.set("architecture", engine->compiled().facts.architecture);
  out.set("software", engine->device().software);
  out.set("load_seconds", std::round(engine->load_times().total_seconds * 1e3) / 1e3);
  out.set("device_bytes", engine->backend().device_bytes());
  out.set("tokens", to_json(ids));
  if (flags.all) {
    Json::Array list;
    for (size_t at = 0; at < rows.size(); at += vocab) {
      list.push_back(to_json(std::span(rows).subspan(at, vocab)));
    }
    out.set("logits", std::move(list));
  } else {
    out.set("logits", to_json(std::span(rows)));
  }
  out.set("greedy", to_json(greedy));
  return print(out.dump() + "\n");
}

}  // namespace

void add_logits(App& app, Action& action) {
  App* command = app.add_subcommand("logits", "run token ids through a model, for checking");
  command->footer(R"(Examples:
  tokamak logits path/to/model --tokens 2,651,6037 --steps 24 --json
  tokamak logits path/to/model --tokens @ids.json --all --json --backend cpu
  tokamak logits path/to/model --tokens 2,651 --force linear=linear.wgsl.any
  tokamak logits path/to/model --tokens 2,651 --trace-kernels 2> kernels.txt)");
  command->group(kCheckingCommands);
  auto flags = std::make_shared<LogitsFlags>();
  flags->model.add(*command, ModelFlags::Model::kOptional);
  flags->model.add_adapters(*command, /*several=*/false);
  command->add_option("--tokens", flags->tokens, "1,2,3 or @file with a JSON array")
      ->type_name("IDS")
      ->required();
  command->add_option("--steps", flags->steps, "then generate N tokens greedily");
  command->add_option("--step-size", flags->step_size,
                      "feed N tokens at a time; 0: as many as fit");
  Option* json = command->add_flag("--json", flags->json, "one JSON object");
  command->add_flag("--all", flags->all, "with --json: logits after every token, not only the last")
      ->needs(json);
  command->callback([flags, &action] { action = [flags] { return run_logits(*flags); }; });
}

}  // namespace tokamak::cli
