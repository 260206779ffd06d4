#include "plan/text.h"

#include <algorithm>

#include "base/json.h"
#include "base/scan.h"
#include "graph/text.h"

namespace tokamak {
namespace {

std::string operand_text(const Operand& operand) {
  return fmt::format("{}:{}", uint32_t(operand.buffer), type_text(operand));
}

std::string extent_text(const Extent& extent) {
  std::string text = fmt::format("{}", extent.count);
  if (extent.tokens_per_group != 0) text += fmt::format("/{}", extent.tokens_per_group);
  return extent.per_slot ? text + "/slot" : text;
}

std::string buffer_text(size_t index, const Buffer& buffer) {
  std::string line = fmt::format("buffer {} {} {}", index, use_name(buffer.use), buffer.bytes);
  if (buffer.on_host) line += " on_host";
  if (!buffer.tensor.name.empty()) {
    line += fmt::format(" @{}: {}", buffer.tensor.name, type_text(buffer.tensor));
    if (buffer.tensor.window != 0) line += fmt::format(" {{window={}}}", buffer.tensor.window);
    if (buffer.use == BufferUse::kConstant) line += " = " + recipe_text(buffer.tensor.recipe);
  }
  return line + '\n';
}

std::string step_text(const Step& step) {
  std::string line = fmt::format("step {}{}", step.kernel->name, attributes_text(step.op));
  if (step.cut.total != 0) line += fmt::format(" rows {}/{}", step.cut.first, step.cut.total);
  line += " in";
  for (const Operand& operand : step.inputs) line += ' ' + operand_text(operand);
  line += " out";
  for (const Operand& operand : step.outputs) line += ' ' + operand_text(operand);
  const Grid& grid = step.launch.grid;
  line +=
      fmt::format(" grid {} {} {}", extent_text(grid.x), extent_text(grid.y), extent_text(grid.z));
  if (!step.launch.rebound_inputs.empty()) line += " again";
  for (const uint32_t input : step.launch.rebound_inputs) line += fmt::format(" {}", input);
  if (step.launch.writes_batch) line += " next_batch";
  if (step.launch.calls_library) line += " library";
  if (step.launch.ranks != 0) line += fmt::format(" ranks {}", step.launch.ranks);
  if (!step.launch.constants.empty()) line += " const";
  for (const Constant& constant : step.launch.constants) {
    if (const auto* value = std::get_if<uint32_t>(&constant.value)) {
      line += fmt::format(" {}={}", constant.name, *value);
    } else {
      line += fmt::format(" {}={}f", constant.name, std::get<float>(constant.value));
    }
  }
  if (!step.launch.sources.empty()) line += " source";
  for (const std::string& source : step.launch.sources) line += ' ' + Json(source).dump();
  if (!step.passed_over.empty()) line += " passed";
  for (const std::string& reason : step.passed_over) line += ' ' + Json(reason).dump();
  return line + '\n';
}

class PlanParser {
 public:
  explicit PlanParser(std::string_view text) : scan_(text) {}

  Result<Plan> run() {
    for (scan_.skip_lines(); !scan_.at_end(); scan_.skip_lines()) {
      if (scan_.take("slots")) {
        TOK_TRY(plan_.slots, scan_.integer32());
      } else if (scan_.take("prompt_outputs")) {
        TOK_TRY(plan_.prompt_outputs, scan_.integer32());
      } else if (scan_.take("ranks")) {
        TOK_TRY(plan_.ranks, scan_.integer32());
      } else if (scan_.take("buffer")) {
        TOK_TRY(buffer());
      } else if (scan_.take("phase")) {
        TOK_TRY(phase());
      } else if (scan_.take("step")) {
        if (plan_.phases.empty()) return scan_.wrong("a phase before the first step");
        TOK_TRY(step());
      } else {
        return scan_.wrong("buffer, phase or step");
      }
      TOK_TRY(scan_.expect_line_end());
    }
    if (plan_.buffers.empty() || plan_.phases.empty()) return scan_.wrong("buffers and a phase");
    declare_states();
    return std::move(plan_);
  }

 private:
  /// Steps imply which states are of which kind, and copies are of states.
  void declare_states() {
    for (const Phase& phase : plan_.phases) {
      for (const Step& step : phase.steps) {
        for (const auto* operands : {&step.inputs, &step.outputs}) {
          for (const Operand& one : *operands) {
            Buffer& buffer = plan_.buffers[uint32_t(one.buffer)];
            if (buffer.use == BufferUse::kState || buffer.use == BufferUse::kSampled) {
              imply_state(step.op, buffer.tensor);
            }
          }
        }
      }
    }
    for (Buffer& copy : plan_.buffers) {
      if (copy.use != BufferUse::kCopy) continue;
      const auto state = std::ranges::find_if(plan_.buffers, [&](const Buffer& other) {
        return other.use == BufferUse::kState && other.tensor.name == copy.tensor.name;
      });
      if (state != plan_.buffers.end()) copy.tensor.state = state->tensor.state;
    }
  }

  Result<void> buffer() {
    TOK_TRY(const uint32_t index, scan_.integer32());
    if (index != plan_.buffers.size()) return scan_.wrong("buffers numbered from 0 on");
    Buffer buffer;
    TOK_TRY(const std::string use, scan_.word());
    bool known = false;
    for (const BufferUse candidate :
         {BufferUse::kBatch, BufferUse::kInput, BufferUse::kRows, BufferUse::kTable,
          BufferUse::kConstant, BufferUse::kState, BufferUse::kCopy, BufferUse::kSampled,
          BufferUse::kActivation}) {
      if (use == use_name(candidate)) {
        buffer.use = candidate;
        known = true;
      }
    }
    if (!known) return scan_.wrong(fmt::format("a use of a buffer, not \"{}\"", use));
    TOK_TRY(buffer.bytes, scan_.integer());
    if (scan_.take("@")) {
      TOK_TRY(std::string name, scan_.word());
      TOK_TRY(scan_.expect(":"));
      TOK_TRY(buffer.tensor, parse_type(scan_));
      buffer.tensor.name = std::move(name);
      if (scan_.take("{window=")) {
        TOK_TRY(buffer.tensor.window, scan_.integer32());
        TOK_TRY(scan_.expect("}"));
      }
      buffer.tensor.storage = buffer.use == BufferUse::kConstant ? Storage::kConstant
                              : buffer.use == BufferUse::kTable ||
                                      buffer.use == BufferUse::kInput ||
                                      buffer.use == BufferUse::kRows
                                  ? Storage::kInput
                                  : Storage::kState;
      if (buffer.use == BufferUse::kConstant) {
        TOK_TRY(scan_.expect("="));
        TOK_TRY(buffer.tensor.recipe, parse_recipe(scan_));
      }
    }
    if (buffer.use == BufferUse::kBatch) plan_.batch = BufferId(index);
    plan_.buffers.push_back(std::move(buffer));
    return {};
  }

  Result<Operand> operand() {
    Operand operand;
    TOK_TRY(const uint32_t index, scan_.integer32());
    if (index >= plan_.buffers.size()) return scan_.wrong("a buffer that is declared above");
    operand.buffer = BufferId(index);
    TOK_TRY(scan_.expect(":"));
    TOK_TRY(TensorDesc type, parse_type(scan_));
    operand.dtype = type.dtype;
    operand.shape = std::move(type.shape);
    return operand;
  }

  Result<void> phase() {
    Phase phase;
    TOK_TRY(phase.name, scan_.word());
    TOK_TRY(scan_.expect("max_tokens="));
    TOK_TRY(phase.max_tokens, scan_.integer32());
    if (scan_.take("kind=")) {
      TOK_TRY(const std::string kind, scan_.word());
      const auto found = std::ranges::find(kPhaseKindNames, kind);
      if (found == std::end(kPhaseKindNames)) return scan_.wrong("a kind of a phase");
      phase.kind = PhaseKind(found - std::begin(kPhaseKindNames));
    }
    if (scan_.take("from_position=")) {
      TOK_TRY(phase.from_position, scan_.integer32());
    }
    TOK_TRY(scan_.expect("tensors="));
    TOK_TRY(phase.tensors, scan_.integer32());
    TOK_TRY(scan_.expect("tensor_bytes="));
    TOK_TRY(phase.tensor_bytes, scan_.integer());
    TOK_TRY(scan_.expect("result="));
    TOK_TRY(phase.result, operand());
    plan_.phases.push_back(std::move(phase));
    return {};
  }

  Result<Extent> extent() {
    Extent extent;
    TOK_TRY(extent.count, scan_.integer32());
    extent.per_slot = scan_.take("/slot");
    if (!extent.per_slot && scan_.take("/")) {
      TOK_TRY(extent.tokens_per_group, scan_.integer32());
      extent.per_slot = scan_.take("/slot");
    }
    return extent;
  }

  Result<void> step() {
    Step step;
    TOK_TRY(const std::string kernel, scan_.word());
    step.kernel = find_variant(kernel);
    if (step.kernel == nullptr) {
      return scan_.wrong(fmt::format("a kernel of this build, not \"{}\"", kernel));
    }
    TOK_TRY(step.op, parse_op(scan_, op_name_at(step.kernel->op)));
    if (scan_.take("rows")) {
      TOK_TRY(step.cut.first, scan_.integer32());
      TOK_TRY(scan_.expect("/"));
      TOK_TRY(step.cut.total, scan_.integer32());
      if (step.cut.first >= step.cut.total) return scan_.wrong("a first row below their number");
    }
    TOK_TRY(scan_.expect("in"));
    while (!scan_.take("out")) {
      TOK_TRY(Operand in, operand());
      step.inputs.push_back(std::move(in));
    }
    while (!scan_.take("grid")) {
      TOK_TRY(Operand out, operand());
      step.outputs.push_back(std::move(out));
    }
    if (step.inputs.empty() || step.outputs.empty()) {
      return scan_.wrong("at least one input and one output before the grid");
    }
    TOK_TRY(step.launch.grid.x, extent());
    TOK_TRY(step.launch.grid.y, extent());
    TOK_TRY(step.launch.grid.z, extent());
    if (scan_.take("again")) {
      while (!next_is_section()) {
        TOK_TRY(const uint32_t input, scan_.integer32());
        if (input >= step.inputs.size()) return scan_.wrong("an input that the step has");
        step.launch.rebound_inputs.push_back(input);
      }
    }
    step.launch.writes_batch = scan_.take("next_batch");
    step.launch.calls_library = scan_.take("library");
    if (scan_.take("ranks")) {
      TOK_TRY(step.launch.ranks, scan_.integer32());
    }
    if (scan_.take("const")) {
      while (!next_is_section()) {
        Constant constant;
        TOK_TRY(constant.name, scan_.word());
        TOK_TRY(scan_.expect("="));
        TOK_TRY(constant.value, constant_value());
        step.launch.constants.push_back(std::move(constant));
      }
    }
    if (scan_.take("source")) {
      TOK_TRY(step.launch.sources, strings());
    }
    if (scan_.take("passed")) {
      TOK_TRY(step.passed_over, strings());
    }
    plan_.phases.back().steps.push_back(std::move(step));
    return {};
  }

  bool next_is_section() {
    Scanner ahead = scan_;
    return ahead.take("next_batch") || ahead.take("library") || ahead.take("ranks") ||
           ahead.take("const ") || ahead.take("source ") || ahead.take("passed ") ||
           ahead.at_line_end();
  }

  /// "12" or "1e-06f".
  Result<std::variant<uint32_t, float>> constant_value() {
    Scanner ahead = scan_;
    TOK_TRY(const std::string word, ahead.word_with_sign());
    if (word.ends_with('f')) {
      Scanner digits(std::string_view(word).substr(0, word.size() - 1));
      auto value = digits.number();
      if (!value) return scan_.wrong("a number");
      scan_ = ahead;
      return *value;
    }
    TOK_TRY(const uint32_t value, scan_.integer32());
    return value;
  }

  Result<std::vector<std::string>> strings() {
    std::vector<std::string> list;
    while (!next_is_section()) {
      TOK_TRY(std::string text, scan_.quoted());
      list.push_back(std::move(text));
    }
    return list;
  }

  Scanner scan_;
  Plan plan_;
};

}  // namespace

std::string to_text(const Plan& plan) {
  std::string text = plan.slots > 1 ? fmt::format("slots {}\n", plan.slots) : "";
  if (plan.prompt_outputs != kMaxPromptOutputs) {
    text += fmt::format("prompt_outputs {}\n", plan.prompt_outputs);
  }
  if (plan.ranks != 1) text += fmt::format("ranks {}\n", plan.ranks);
  for (size_t i = 0; i < plan.buffers.size(); ++i) text += buffer_text(i, plan.buffers[i]);
  for (const Phase& phase : plan.phases) {
    std::string from;
    if (phase.kind != PhaseKind::kPrefill)
      from = fmt::format(" kind={}", kPhaseKindNames[size_t(phase.kind)]);
    if (phase.from_position > 0) from += fmt::format(" from_position={}", phase.from_position);
    text += fmt::format("phase {} max_tokens={}{} tensors={} tensor_bytes={} result={}\n",
                        phase.name, phase.max_tokens, from, phase.tensors, phase.tensor_bytes,
                        operand_text(phase.result));
    for (const Step& step : phase.steps) text += step_text(step);
  }
  return text;
}

Result<Plan> parse_plan(std::string_view text) {
  return PlanParser(text).run();
}

}  // namespace tokamak
