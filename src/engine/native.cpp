// The parts that an engine needs from the operating system: files, devices, a clock.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "backend/cuda/device.h"
#include "base/bytes_text.h"
#include "base/file_cache.h"
#include "base/system/folders.h"
#include "base/system/path_text.h"
#include "engine/choose_gpus.h"
#include "engine/engine.h"
#include "engine/files/encoder_weights.h"
#include "engine/files/gguf_files.h"
#include "engine/files/nemo_files.h"
#include "engine/files/partial_files.h"
#include "engine/files/template_files.h"
#include "engine/gguf_model.h"
#include "engine/lora_files.h"
#include "engine/memory.h"
#include "engine/quantized_type.h"
#include "formats/native_files.h"
#include "hub/cache.h"
#include "hub/repo_files.h"
#include "hub/settings.h"
#include "model/repack.h"
#include "tune/background_self_test.h"
#include "tune/device_measurements.h"
#include "tune/quantized_cache.h"

namespace tokamak {
namespace {

constexpr uint64_t kMaxTextBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxHintBytes = uint64_t{1} << 20;

/// "" when there is no such file. One that is there has something in it: what was cut off must not
/// count as absent.
Result<std::string> read_optional(const std::string& path, uint64_t max_bytes = kMaxTextBytes) {
  if (!file_exists(path)) return std::string();
  TOK_TRY(std::string text, read_text_file(path, max_bytes));
  if (text.empty()) return invalid_input("{}: The file is empty.", path);
  return text;
}

/// An error that names the model, if it does not by the path of a file in it.
Failure within(const std::string& path, const Error& error) {
  return Failure(error.message.starts_with(path) ? error : error.within(path));
}

Result<void> read_templates(const std::string& folder, ModelFiles& files) {
  const std::string more = folder + "/additional_chat_templates";
  if (!is_directory(more)) return {};
  std::error_code ignored;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path_of(more), ignored)) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    TOK_TRY(std::string text, read_text_file(text_of(path), kMaxTextBytes));
    files.more_templates.emplace_back(text_of(path.stem()), std::move(text));
  }
  return {};
}

bool is_file(const std::string& path) {
  return file_exists(path) && !is_directory(path);
}

/// By its name or, as other programs keep files under the hash of their content, by its first
/// bytes.
bool is_gguf(const std::string& path) {
  if (!is_file(path)) return false;
  if (path.ends_with(".gguf")) return true;
  const auto file = open_file(path);
  if (!file || (*file)->size() < 4) return false;
  const auto magic = (*file)->view(0, 4);
  return magic && std::memcmp(magic->data(), "GGUF", 4) == 0;
}

/// The folder of a model of which one file is named; `path` as it is otherwise.
std::string folder_of(const std::string& path) {
  const std::filesystem::path file = path_of(path);
  const bool is_part = path.ends_with(".safetensors") || file.filename() == "config.json" ||
                       path.ends_with(".safetensors.index.json");
  if (!is_part || !is_file(path)) return path;
  const std::string folder = file.has_parent_path() ? text_of(file.parent_path()) : ".";
  return file_exists(folder + "/config.json") ? folder : path;
}

/// The .gguf model of a folder that holds nothing else of one, `path` for anything else.
Result<std::string> gguf_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!is_directory(path) || file_exists(path + "/config.json")) return path;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(path_of(path), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    names.push_back(text_of(entry->path().filename()));
  }
  const std::vector<std::string> found = hub::gguf_models(names);
  if (found.empty()) return path;
  const auto whole = [&](const std::string& name) {
    return text_of(path_of(path) / path_of(name));
  };
  if (found.size() == 1) return whole(found[0]);
  return fail(ErrorCode::kUsage, "{} holds several .gguf files, expected the path of one: {}.",
              path, fmt::join(found, ", "));
}

/// Those that choose the same device once more, and no other.
OpenOptions device_options(const OpenOptions& options, const DeviceInfo& device) {
  OpenOptions same = options;
  same.backend = backend_name(device.backend);
  same.notice = {};
  return same;
}

}  // namespace

Result<ModelFiles> read_text_files(const std::string& path) {
  if (is_gguf(path)) {
    TOK_TRY(const GgufFile file, open_gguf(path));
    return gguf_text_files(file);
  }
  const std::string& folder = path;
  if (!file_exists(folder)) return invalid_input("{}: there is no such folder or file.", folder);
  if (!is_directory(folder)) {
    return invalid_input(
        "{} is a file, but not a GGUF file; expected one or a model folder with config.json.",
        folder);
  }
  ModelFiles files;
  files.name = folder;
  TOK_TRY(files.tokenizer, read_optional(folder + "/tokenizer.json"));
  TOK_TRY(files.tokenizer_config, read_optional(folder + "/tokenizer_config.json"));
  TOK_TRY(files.special_tokens_map, read_optional(folder + "/special_tokens_map.json"));
  TOK_TRY(files.added_tokens, read_optional(folder + "/added_tokens.json"));
  TOK_TRY(files.chat_template, read_chat_template([&](const std::string& file) {
            return read_optional(folder + "/" + file);
          }));
  TOK_TRY(read_templates(folder, files));
  return files;
}

namespace {

/// `unread` null: a tensor of a type that is not read is an error.
Result<ModelFiles> read_any_model(const std::string& path, const std::string& projector,
                                  UnreadTensors* unread) {
  if (is_gguf(path)) return read_gguf_model(path, projector, unread);
  if (!projector.empty()) {
    return fail(ErrorCode::kUsage,
                "{} is no GGUF file, so that its tower of images is in its own files; mmproj names "
                "that of a GGUF file.",
                path);
  }
  if (const std::string nemo = find_nemo(path); !nemo.empty()) return nemo_model_files(nemo);
  const std::string& folder = path;
  TOK_TRY(ModelFiles files, read_text_files(folder));
  if (!file_exists(folder + "/config.json")) {
    return invalid_input(
        "{} has no config.json; expected a model folder in the Hugging Face layout.", folder);
  }
  auto description = read_description([&](const std::string& file) {
    return read_optional(folder + "/" + file,
                         file == "tokamak.json" ? kMaxHintBytes : kMaxTextBytes);
  });
  if (!description) return within(folder, description.error());
  files.description = *std::move(description);
  TOK_TRY(files.tensors, unread != nullptr ? open_safetensors_folder(folder, *unread)
                                           : open_safetensors_folder(folder));
  if (files.description.encoder) {
    TOK_TRY(add_module_weights(folder, *files.description.encoder, files.tensors));
  }
  TOK_TRY(add_sparse_linear(folder, files.tensors));
  return files;
}

}  // namespace

Result<ModelFiles> read_model_files(const std::string& path, const std::string& projector) {
  return read_any_model(path, projector, nullptr);
}

Result<ModelFiles> read_model_files(const std::string& path, UnreadTensors& unread,
                                    const std::string& projector) {
  return read_any_model(path, projector, &unread);
}

std::string model_id(const std::string& typed, const std::string& path) {
  namespace fs = std::filesystem;
  if (!typed.empty() && !file_exists(typed)) return typed;  // org/name
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(path_of(typed.empty() ? path : typed), ignored);
  return text_of(real.extension() == ".gguf" ? real.stem() : real.filename());
}

Result<std::string> builtin_model_folder() {
  // Installed: <prefix>/bin or lib beside <prefix>/share. In a build tree the sources are further
  // up.
  for (const std::string& start : {executable_folder(), library_folder()}) {
    std::filesystem::path folder = path_of(start);
    for (int up = 0; up < 5 && !folder.empty(); ++up, folder = folder.parent_path()) {
      for (const char* place : {"share/tokamak/models/storyteller", "models/storyteller"}) {
        const std::string candidate = text_of(folder / path_of(place));
        if (file_exists(candidate + "/config.json")) return candidate;
      }
    }
  }
  constexpr std::string_view kDataFolder = TOKAMAK_DATA_FOLDER;  // empty in a portable build
  const std::string installed = std::string(kDataFolder) + "/models/storyteller";
  if (!kDataFolder.empty() && file_exists(installed + "/config.json")) return installed;
  return invalid_input(
      "The built-in model was not found beside the program{}; name a MODEL folder.",
      kDataFolder.empty() ? "" : " or in " + installed);
}

Result<std::string> find_model(const std::string& model) {
  if (model.empty()) return builtin_model_folder();
  TOK_TRY(const std::string path, hub::resolve_model(model, hub::cache_folder()));
  return gguf_of(folder_of(path));
}

namespace {

/// The self-test: in front of the first step on a GPU, beside it on a software driver.
FindWrong wrong_kernels_finder(const DeviceInfo& device, const OpenOptions& options) {
  if (!device.software || options.self_test_first) {
    return [](Backend& on, const Plan& plan) -> Result<WrongVariants> {
      if (on.stages().empty()) {
        return find_wrong_kernels(on, plan, self_test_cache(on.device()));
      }
      WrongVariants all;
      for (const auto& stage : on.stages()) {
        TOK_TRY(WrongVariants wrong,
                find_wrong_kernels(*stage, plan, self_test_cache(stage->device())));
        all.merge(wrong);
      }
      return all;
    };
  }
  const auto beside = std::make_shared<BackgroundSelfTest>(
      [same = device_options(options, device)] { return open_backend(same); },
      kept_verdicts(self_test_cache(device)), options.notice);
  return [beside](Backend&, const Plan& plan) { return beside->look_at(plan); };
}

}  // namespace

void recall_device(const DeviceInfo& device, OpenOptions& options) {
  if (device.backend == BackendKind::kCpu) return;
  if (options.use_tuned) recall_tuned(device, options.advice);
  if (options.self_test) recall_verdicts(device, options.advice);
}

namespace {

/// The files of the draft model, where one is asked.
Result<std::shared_ptr<ModelFiles>> read_draft(const OpenOptions& options) {
  TOK_TRY(const SpeculationOptions speculation,
          speculation_from_text(options.speculate, !options.draft.empty()));
  if (!speculation.asks_model) return nullptr;
  TOK_TRY(const std::string path, find_model(options.draft));
  TOK_TRY(ModelFiles files, read_model_files(path));
  return std::make_shared<ModelFiles>(std::move(files));
}

/// Bytes that the weights take on a device. A wrong `quantize` is for Engine::compile to refuse.
uint64_t weight_bytes(const TensorFile& tensors, const std::string& quantize) {
  const auto type = quantized_type(quantize);
  uint64_t bytes = 0;
  for (const TensorInfo& tensor : tensors.tensors()) {
    const bool is_quantized = type && *type && !is_packed(tensor.dtype) && tensor.shape.size() > 1;
    bytes += is_quantized ? block_row_bytes(**type, tensor.elements()) : tensor.bytes;
  }
  return bytes;
}

/// Whether the plan of that many ranks of a device has room on each, with nothing in the host's
/// memory.
bool ranks_fit(const ModelFiles& files, DeviceInfo device, uint32_t ranks, uint64_t room,
               OpenOptions options) {
  device.ranks = ranks;
  options.notice = nullptr;  // for the plan that will run
  const auto compiled = Engine::compile(files, device, options);
  if (!compiled) return false;
  const Footprint sum = footprint(compiled->main.plan);
  return sum.on_host == 0 &&
         leave_room(double(sum.constants + tower_bytes(*compiled)), double(room));
}

/// Whether devices with these rooms have room for the layers of the plan that each would have.
bool layers_fit(const ModelFiles& files, const DeviceInfo& device, std::span<const uint64_t> rooms,
                OpenOptions options) {
  options.notice = nullptr;
  options.free_memory = std::accumulate(rooms.begin(), rooms.end(), uint64_t{0});
  options.memory = fmt::format("{}", options.free_memory);
  const auto compiled = Engine::compile(files, device, options);
  if (!compiled) return false;
  return layers_have_room(compiled->main.plan, tower_bytes(*compiled), rooms);
}

/// The devices with room for weights that `device` has no room for: ranks where they can be, else
/// layers. Then `options` name them. Null: there are none.
Result<std::unique_ptr<Backend>> open_more(const ModelFiles& files, const DeviceInfo& device,
                                           uint64_t needed, uint64_t room, OpenOptions& options) {
  TOK_TRY(const std::vector<CudaDeviceEntry> devices, list_cuda_devices());
  const auto fit = [&](uint32_t ranks) { return ranks_fit(files, device, ranks, room, options); };
  OpenOptions own = options;
  if (options.split != "layers") own.gpus = gpus_for(needed, room, 0, devices, fit);
  if (options.split == "auto") {
    own.split = !own.gpus.empty() && check_cuda_links(own.gpus) ? "ranks" : "layers";
  }
  if (own.split == "layers") {
    const auto layers = [&](std::span<const uint64_t> rooms) {
      return layers_fit(files, device, rooms, options);
    };
    own.gpus = layer_gpus_for(needed, room, 0, devices, layers);
  }
  if (own.gpus.empty()) return nullptr;
  auto together = open_backend(own);
  if (options.notice) {
    const std::string names = fmt::format("{}", fmt::join(own.gpus, ", "));
    options.notice(fmt::format(
        "The model's weights take {}, and a GPU has room for {}: {}", bytes_text(needed),
        bytes_text(room),
        together
            ? fmt::format("it runs on the CUDA devices {} (--gpus, --split {}).", names, own.split)
            : together.error().message));
  }
  if (!together) return nullptr;
  options = std::move(own);
  return together;
}

/// Opens the backend that the options name; where they name no device, and a CUDA device has no
/// room for the weights, as many of those as have. Sets their free_memory, where it is not given,
/// and makes a limit for each device one for all that have layers.
Result<std::unique_ptr<Backend>> open_with_room(const ModelFiles& files, OpenOptions& options) {
  TOK_TRY(std::unique_ptr<Backend> backend, open_backend(options));
  const bool is_given = options.free_memory != 0;
  if (!is_given) options.free_memory = free_memory(*backend);
  const bool is_open = !options.device && options.gpus.empty();
  if (backend->device().backend == BackendKind::kCuda && is_open) {
    TOK_TRY(const std::optional<uint64_t> room, memory_limit(options, backend->device()));
    const uint64_t needed = weight_bytes(files.tensors, options.quantize);
    if (room && needed > *room) {
      TOK_TRY(std::unique_ptr<Backend> together,
              open_more(files, backend->device(), needed, *room, options));
      if (together != nullptr) {
        backend = std::move(together);
        if (!is_given) options.free_memory = free_memory(*backend);
      }
    }
  }
  if (parse_bytes(options.memory) && !backend->stages().empty()) {
    uint64_t all = 0;
    for (const DeviceMemoryUse& use : backend->memory_use()) all += use.free_bytes;
    options.memory = fmt::format("{}", all);
  }
  return backend;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const OpenOptions& options) {
  TOK_TRY(const std::string path, find_model(options.model));
  TOK_TRY(ModelFiles files, read_model_files(path, options.projector));
  TOK_TRY(files.adapters, read_adapters(options.adapters));
  TOK_TRY(files.draft, read_draft(options));
  OpenOptions own = options;
  const auto notice = [&](const std::string& text) {
    if (options.notice) options.notice(text);
  };
  TOK_TRY(std::unique_ptr<Backend> backend, open_with_room(files, own));
  std::string problem;
  if (backend->device().backend != BackendKind::kCpu) problem = cache_problem();
  if (!problem.empty())
    notice(fmt::format("The pipeline cache is off, so that every start compiles all kernels: {}.",
                       problem));
  recall_device(backend->device(), own);
  if (options.self_test && !options.find_wrong) {
    own.find_wrong = wrong_kernels_finder(backend->device(), options);
  }
  if (!options.quantize.empty() && !options.prepared) {
    own.prepared = [&](const TensorFile& tensors, const Graph& graph) {
      return with_quantized_cache(tensors, graph, cache_folder(kWeightCache.folder), notice);
    };
  }
  if (backend->device().backend != BackendKind::kCpu && !options.reopen) {
    OpenOptions same = device_options(own, backend->device());
    same.memory = options.memory;  // of each device
    own.reopen = [same = std::move(same)] { return open_backend(same); };
  }
  auto engine = load(std::move(files), std::move(backend), own, steady_clock());
  if (engine && problem.empty()) {
    const std::string lost = (*engine)->compile_report().cache_problem;
    if (!lost.empty()) {
      notice(
          fmt::format("The next start compiles kernels anew, since they cannot be kept: {}. "
                      "`tokamak cache` shows what is.",
                      lost));
    }
  }
  if (!engine) return within(path, engine.error());
  return engine;
}

}  // namespace tokamak
