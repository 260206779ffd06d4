#include "report/support.h"

#include <map>

#include "base/table.h"
#include "model/unused_tensors.h"

namespace tokamak {
namespace {

DeviceInfo least_webgpu_device() {
  DeviceInfo device;
  device.backend = BackendKind::kWebGpu;
  device.name = "any WebGPU device";
  return device;
}

SupportRow alike(std::string part, bool runs, std::string what) {
  return {std::move(part), runs, runs, std::move(what)};
}

SupportRow architecture_row(const ModelFiles& files) {
  const auto found = find_architecture(files.description.reader());
  if (!found) return alike("architecture", false, found.error().message);
  return alike("architecture", true, std::string((*found)->name));
}

SupportRow weights_row(const ModelFiles& files) {
  std::map<std::string, uint64_t> tensors;
  for (const TensorInfo& tensor : files.tensors.tensors()) {
    ++tensors[std::string(dtype_name(tensor.dtype))];
  }
  std::vector<std::string> shown;
  for (const auto& [type, count] : tensors) shown.push_back(fmt::format("{} in {}", count, type));
  return alike("tensors", !tensors.empty(), tensors.empty() ? "there are none" : joined(shown));
}

/// What compiling for a device says; adds the parts of the checkpoint that a graph leaves out.
SupportRow model_row(const ModelFiles& files, const OpenOptions& options,
                     std::vector<SupportRow>& left_out) {
  SupportRow row{.part = "model"};
  const auto cpu = Engine::compile(files, DeviceInfo(), options);
  const auto webgpu = Engine::compile(files, least_webgpu_device(), options);
  row.cpu = cpu.has_value();
  row.webgpu = webgpu.has_value();
  if (!cpu) {
    row.what = cpu.error().message;
    return row;
  }
  row.what = webgpu ? fmt::format("{} layers, {} positions", cpu->facts.layers, cpu->context)
                    : webgpu.error().message;
  std::span<const SoundStage> stages;
  if (cpu->speech) stages = cpu->speech->stages;
  const UnusedTensors unused = unused_tensors(files.tensors, cpu->unfused, stages);
  for (const auto& [part, tensors] : unused.parts) {
    left_out.push_back(
        alike(part, false,
              fmt::format("{} tensor{}; this engine runs the language model without "
                          "{}",
                          tensors, tensors == 1 ? "" : "s", tensors == 1 ? "it" : "them")));
  }
  if (!unused.unknown.empty()) {
    left_out.push_back(
        alike("other tensors", false, unknown_tensors_notice(unused, cpu->facts.architecture)));
  }
  return row;
}

SupportRow tokenizer_row(const ModelFiles& files) {
  const auto tokenizer = make_tokenizer(files);
  if (!tokenizer) return alike("tokenizer", false, tokenizer.error().message);
  return alike("tokenizer", true, fmt::format("{} tokens", count_text(tokenizer->vocab_size())));
}

SupportRow template_row(const ModelFiles& files) {
  Json message, variables;
  message.set("role", "user").set("content", "Hello");
  variables.set("messages", Json::Array{message}).set("add_generation_prompt", true);
  const auto rendered = render_chat(files, variables);
  if (!rendered) return alike("chat template", false, rendered.error().message);
  return alike("chat template", true, "renders a message of the user");
}

Table rows_table(const std::vector<SupportRow>& rows) {
  Table table;
  table.column("part", "part").column("cpu", "cpu").column("webgpu", "webgpu").column("", "what");
  const auto cell = [](bool runs) { return Cell(runs ? "yes" : "no", Json(runs)); };
  for (const SupportRow& row : rows) {
    table.row({row.part, cell(row.cpu), cell(row.webgpu), row.what});
  }
  return table;
}

}  // namespace

std::vector<SupportRow> support(const ModelFiles& files, const OpenOptions& options) {
  std::vector<SupportRow> left_out;
  std::vector<SupportRow> rows = {architecture_row(files), weights_row(files)};
  rows.push_back(model_row(files, options, left_out));
  rows.push_back(tokenizer_row(files));
  rows.push_back(template_row(files));
  rows.insert(rows.end(), left_out.begin(), left_out.end());
  return rows;
}

std::string support_text(const std::vector<SupportRow>& rows) {
  return rows_table(rows).text();
}

Json support_json(const std::vector<SupportRow>& rows) {
  return rows_table(rows).json();
}

}  // namespace tokamak
