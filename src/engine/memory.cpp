#include "engine/memory.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "backend/stages.h"
#include "base/bits.h"
#include "base/bytes_text.h"
#include "graph/kv_cache.h"

namespace tokamak {
namespace {

/// The default share: the rest is for the program itself and for others.
constexpr uint32_t kDefaultPercent = 90;

/// N of "N%", from 1 to 100.
std::optional<uint32_t> percent_of(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  uint32_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (percent < 1 || percent > 100) return std::nullopt;
  return percent;
}

uint64_t share_of(uint64_t bytes, uint32_t percent) {
  return uint64_t(double(bytes) * percent / 100);
}

/// The limit with the sum that it is a share of.
std::string limit_text(uint64_t limit, const OpenOptions& options, const DeviceInfo& device) {
  const bool is_share = options.memory.empty() || options.memory.ends_with('%');
  if (!is_share) return fmt::format("memory allows {}", bytes_text(limit));
  const std::string share =
      options.memory.empty() ? fmt::format("{}%", kDefaultPercent) : options.memory;
  return fmt::format("{} of the {} that are free on \"{}\" are {}", share,
                     bytes_text(options.free_memory), device.name, bytes_text(limit));
}

std::string_view cache_type(const Plan& plan) {
  const auto cache = std::ranges::find_if(plan.buffers, is_kv_cache);
  return cache == plan.buffers.end() ? "no cache" : cache_type_name(cache->tensor.dtype);
}

/// Small constants stay on the device: they free little, and cost a way over the bus each.
constexpr uint64_t kMinBytesOnHost = 64 << 10;
/// The bandwidth of PCIe 4.0 with 16 lanes, for the cost in messages.
constexpr double kBusBytesPerSecond = 25e9;

/// Constants of which every step that uses them reads a row for each token.
std::set<BufferId> tables_read_by_rows(const Plan& plan) {
  std::set<BufferId> by_rows, whole;
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.steps) {
      const bool is_embed = std::holds_alternative<Embed>(step.op);
      for (const Operand& input : step.inputs) {
        if (plan.at(input.buffer).use != BufferUse::kConstant) continue;
        (is_embed ? by_rows : whole).insert(input.buffer);
      }
    }
  }
  std::erase_if(by_rows, [&](BufferId id) { return whole.contains(id); });
  return by_rows;
}

/// The bytes that are left in the host's memory, and the time that reading them takes.
std::string host_text(const Plan& plan) {
  const uint64_t on_host = footprint(plan).on_host;
  if (on_host == 0) return "";
  uint64_t each_step = on_host;
  for (const BufferId table : tables_read_by_rows(plan)) {
    if (plan.at(table).on_host) each_step -= plan.at(table).bytes;
  }
  return fmt::format(
      ", and {} of weights that stay in the host's memory: {} of them are read over the bus for "
      "every token, about {:.0f} ms at 25 GB/s (PCIe 4.0)",
      bytes_text(on_host), bytes_text(each_step), 1e3 * double(each_step) / kBusBytesPerSecond);
}

/// The words in a list of sizes before its last one.
std::string tower_text(const Engine::Compiled& compiled) {
  if (!compiled.tower) return "and ";
  return fmt::format("{} for images, and ", bytes_text(tower_bytes(compiled)));
}

std::string draft_text(uint64_t bytes) {
  return bytes == 0 ? "" : fmt::format(", and {} for the draft model", bytes_text(bytes));
}

/// The pool whose pages are those of the draft model, too.
CachePool all_pool(const Engine::Compiled& compiled) {
  CachePool pool = cache_pool(compiled.main.plan);
  pool.page_bytes += compiled.draft.page_bytes;
  return pool;
}

/// Pages that there have to be.
uint64_t least_pages(const Engine::Compiled& compiled, const OpenOptions& options) {
  const CachePool pool = cache_pool(compiled.main.plan);
  if (options.cache_tokens != 0 || compiled.is_for_sound()) return pool.pages;
  return std::min<uint64_t>(pool.pages, ceil_div(compiled.context, kPageTokens));
}

/// Ways to a model that one GPU has no room for.
std::string other_devices_text(const DeviceInfo& device) {
  if (device.backend == BackendKind::kCpu) return "";
  const bool may_have_more = device.backend == BackendKind::kCuda && device.ranks < kMaxRanks;
  return fmt::format("{} The processor takes it where the machine has the memory (--backend cpu).",
                     may_have_more ? " More GPUs can share it (gpus, --gpus 0,1)." : "");
}

}  // namespace

CachePool cache_pool(const Plan& plan) {
  CachePool pool;
  for (const Buffer& buffer : plan.buffers) {
    if (!is_kv_cache(buffer) || is_ring(buffer)) continue;
    pool.pages = uint64_t(buffer.tensor.shape[0]) / kPageTokens;
    pool.page_bytes += buffer.bytes / pool.pages;
  }
  return pool;
}

Result<std::optional<uint64_t>> memory_limit(const OpenOptions& options, const DeviceInfo& device) {
  const uint64_t free = options.free_memory;
  if (options.memory.empty()) {
    // On the CPU the system decides: how much it can reclaim or swap out is not known.
    const bool is_known = free != 0 && device.backend != BackendKind::kCpu;
    return is_known ? std::optional(share_of(free, kDefaultPercent)) : std::nullopt;
  }
  if (const auto bytes = parse_bytes(options.memory); bytes && *bytes > 0) return bytes;
  const auto percent = percent_of(options.memory);
  if (!percent) {
    return fail(ErrorCode::kUsage,
                "memory is \"{}\", expected a size as \"6GiB\" or a share as \"70%\".",
                options.memory);
  }
  if (free == 0) {
    return fail(ErrorCode::kUsage,
                "memory is \"{}\", but how much \"{}\" has is not known; expected a size as "
                "\"6GiB\".",
                options.memory, device.name);
  }
  return share_of(free, *percent);
}

Result<std::optional<uint32_t>> smaller_cache(const Engine::Compiled& compiled,
                                              const DeviceInfo& device,
                                              const OpenOptions& options) {
  TOK_TRY(const std::optional<uint64_t> limit, memory_limit(options, device));
  const Footprint needed = footprint(compiled.main.plan);
  const uint64_t all = needed_bytes(compiled);
  if (!limit || all <= *limit) return std::nullopt;
  const CachePool pool = all_pool(compiled);
  const uint64_t least = least_pages(compiled, options);
  const uint64_t without = all - pool.pages * pool.page_bytes;
  const uint64_t room = *limit > without ? *limit - without : 0;
  if (pool.pages > least && room >= least * pool.page_bytes) {
    return uint32_t(std::min(room / pool.page_bytes, pool.pages) * kPageTokens);
  }
  const uint64_t own_page = pool.page_bytes - compiled.draft.page_bytes;
  const uint64_t states = needed.states - (pool.pages - least) * own_page;
  return fail(
      ErrorCode::kOutOfMemory,
      "The model needs {}: {} of weights and tables, {} of KV cache ({}) and states for {} "
      "positions, {}{} for steps of {} tokens{}; {}. A smaller context or chunk needs less, and so "
      "do kv q8 and weights of floats that are quantized (quantize q8 or q4); memory "
      "(--max-memory) sets the limit.{}",
      bytes_text(without + least * pool.page_bytes), bytes_text(needed.constants),
      bytes_text(states), cache_type(compiled.main.plan),
      options.cache_tokens != 0 ? least * kPageTokens : compiled.context, tower_text(compiled),
      bytes_text(needed.activations + needed.other), compiled.main.plan.chunk(),
      draft_text(compiled.draft.bytes + least * compiled.draft.page_bytes),
      limit_text(*limit, options, device), other_devices_text(device));
}

Result<std::optional<OpenCache>> longer_context(const Engine::Compiled& compiled,
                                                const DeviceInfo& device,
                                                const OpenOptions& options) {
  const bool is_open = options.context == 0 && options.cache_tokens == 0 && !options.all_logits;
  const uint32_t most = std::min(compiled.facts.max_context, kLongestDefaultContext);
  if (!is_open || !compiled.gives_text() || most <= compiled.context) return std::nullopt;
  TOK_TRY(std::optional<uint64_t> limit, memory_limit(options, device));
  // On the CPU nothing limits it, and yet a cache takes what others could have.
  if (!limit && options.free_memory != 0) limit = share_of(options.free_memory, kDefaultPercent);
  const CachePool pool = all_pool(compiled);
  const uint64_t beside = needed_bytes(compiled) - pool.pages * pool.page_bytes;
  if (!limit || beside >= *limit) return std::nullopt;
  const uint64_t pages = (*limit - beside) / std::max<uint64_t>(pool.page_bytes, 1);
  for (uint32_t context = most; context > compiled.context; context /= 2) {
    const uint64_t own_pages = ceil_div(context, kPageTokens);
    if (own_pages > pages / 2) continue;
    const uint64_t shared = std::min(std::max(own_pages, pool.pages), pages);
    return OpenCache{context, uint32_t(shared * kPageTokens)};
  }
  return std::nullopt;
}

uint64_t draft_bytes(const Engine::Compiled& compiled) {
  return compiled.draft.bytes + cache_pool(compiled.main.plan).pages * compiled.draft.page_bytes;
}

uint64_t tower_bytes(const Engine::Compiled& compiled) {
  return compiled.tower ? footprint(compiled.tower->plan).total() : 0;
}

uint64_t needed_bytes(const Engine::Compiled& compiled) {
  return footprint(compiled.main.plan).total() + tower_bytes(compiled) + draft_bytes(compiled);
}

uint64_t least_bytes(const Engine::Compiled& compiled, const OpenOptions& options) {
  const CachePool pool = all_pool(compiled);
  return needed_bytes(compiled) - (pool.pages - least_pages(compiled, options)) * pool.page_bytes;
}

bool reads_host_memory(const DeviceInfo& device) {
  return device.backend == BackendKind::kCuda;
}

bool leave_on_host(Plan& plan, uint64_t limit) {
  const std::set<BufferId> by_rows = tables_read_by_rows(plan);
  uint64_t needed = footprint(plan).total();
  std::vector<Buffer*> left;
  const auto leave = [&](size_t i) {
    Buffer& buffer = plan.buffers[i];
    if (needed <= limit || buffer.use != BufferUse::kConstant || buffer.on_host) return;
    buffer.on_host = true;
    needed -= buffer.bytes;
    left.push_back(&buffer);
  };
  for (const BufferId table : by_rows) leave(uint32_t(table));
  for (size_t i = plan.buffers.size(); i > 0; --i) {
    if (plan.buffers[i - 1].bytes >= kMinBytesOnHost) leave(i - 1);
  }
  if (needed <= limit) return true;
  for (Buffer* buffer : left) buffer->on_host = false;
  return false;
}

std::string memory_text(const Engine::Compiled& compiled, const OpenOptions& options) {
  const Footprint needed = footprint(compiled.main.plan);
  const uint64_t positions = cache_pool(compiled.main.plan).pages * kPageTokens;
  std::string text = fmt::format(
      "Memory{}: {} of weights, {} of cache for {} positions ({}), {} of activations",
      options.called.empty() ? "" : " of " + options.called, bytes_text(needed.constants),
      bytes_text(needed.states), positions == 0 ? compiled.context : positions,
      cache_type(compiled.main.plan), bytes_text(needed.activations + needed.other));
  if (compiled.tower) {
    text += fmt::format(", {} for images", bytes_text(tower_bytes(compiled)));
  }
  text += draft_text(draft_bytes(compiled));
  text += host_text(compiled.main.plan);
  if (options.free_memory != 0) text += fmt::format("; {} free", bytes_text(options.free_memory));
  return text + ".";
}

std::vector<DevicePart> device_parts(const Backend& backend, const Plan& plan) {
  const std::vector<LayerShare> shares = layer_shares(backend, plan);
  if (shares.empty()) return {};
  std::vector<Stage> stages = cut_layers(plan, find_layers(plan), shares);
  std::vector<DevicePart> parts;
  for (size_t i = 0; i < stages.size(); ++i) {
    parts.push_back({shares[i], std::move(stages[i].plan)});
  }
  return parts;
}

std::string parts_text(const Backend& backend, const Plan& plan) {
  std::string text;
  const std::vector<LayerShare> shares = layer_shares(backend, plan);
  for (size_t i = 0; i < shares.size(); ++i) {
    const Backend& stage = *backend.stages()[i];
    const uint64_t free = stage.free_bytes();
    text +=
        fmt::format("{}{} on \"{}\" ({}{})", text.empty() ? "Each device has some layers: " : ", ",
                    layers_text(shares[i]), stage.device().name, bytes_text(shares[i].bytes),
                    free == 0 ? "" : fmt::format(" of {} free", bytes_text(free)));
  }
  return text + ".";
}

Result<void> check_codec_fits(const Plan& codec, uint64_t taken, std::optional<uint64_t> limit) {
  const uint64_t needed = footprint(codec).total();
  if (!limit || needed + taken <= *limit) return {};
  const std::string beside =
      taken == 0 ? "" : fmt::format(" beside the {} of its model", bytes_text(taken));
  return fail(ErrorCode::kOutOfMemory,
              "The codec needs {}{}; memory allows {} (--max-memory sets the limit).",
              bytes_text(needed), beside, bytes_text(*limit));
}

std::string codec_memory_text(const Plan& codec) {
  const Footprint needed = footprint(codec);
  return fmt::format("Memory of the codec: {} of weights, {} of activations.",
                     bytes_text(needed.constants), bytes_text(needed.total() - needed.constants));
}

Error does_not_fit(const Engine::Compiled& compiled, const DeviceInfo& device, const Error& why) {
  const Footprint needed = footprint(compiled.main.plan);
  return {why.code,
          fmt::format(
              "The model does not fit into the memory of \"{}\": it needs {} of weights "
              "and tables, {} of KV cache and states for {} positions, {}{} for steps of {} "
              "tokens. A smaller context or chunk needs less, and so do weights of "
              "floats that are quantized (quantize q8 or q4).{} ({})",
              device.name, bytes_text(needed.constants), bytes_text(needed.states),
              compiled.context, tower_text(compiled), bytes_text(needed.activations + needed.other),
              compiled.main.plan.chunk(), other_devices_text(device), why.message)};
}

}  // namespace tokamak
