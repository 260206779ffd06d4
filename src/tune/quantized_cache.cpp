#include "tune/quantized_cache.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "base/file_cache.h"
#include "base/hash.h"
#include "base/system/path_text.h"
#include "base/whole_file.h"
#include "formats/native_files.h"
#include "formats/safetensors_writer.h"
#include "model/repack.h"

namespace tokamak {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = size_t{4} << 20;
constexpr const char* kSums = "tokamak.sums";  // a tensor beside the matrices: their checksums

struct Wanted {
  const TensorInfo* info;
  DType type;
  uint64_t rows, columns;

  uint64_t bytes() const { return rows * block_row_bytes(type, columns); }
};

using WantedByName = std::map<std::string, Wanted, std::less<>>;

/// Float tensors that become packed constants.
WantedByName wanted_matrices(const TensorFile& tensors, const Graph& graph) {
  WantedByName wanted;
  for (const TensorDesc& value : graph.values) {
    const auto* weight = std::get_if<Weight>(&value.recipe);
    if (weight == nullptr) continue;
    for (const WeightPart& part : weight->parts) {
      const DType type = part.dtype.value_or(value.dtype);
      if (type != DType::kQ8_0 && type != DType::kQ4_0) continue;
      const TensorInfo* info = tensors.find(part.name);
      if (info == nullptr || !is_float_weight(info->dtype)) continue;
      // All columns are kept, also of a matrix of which ranks have some.
      const RankCut& cut = weight->column_cut;
      const uint64_t columns = cut.is_whole() ? uint64_t(value.shape[1]) : cut.total;
      wanted[part.name] = {info, type, info->elements() / columns, columns};
    }
  }
  return wanted;
}

/// A sum that changes with any bit and any exchange of words; quick enough for gigabytes.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    for (; bytes.size() >= sizeof(uint64_t); bytes = bytes.subspan(sizeof(uint64_t))) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data(), sizeof word);
      mix(word);
    }
    for (const std::byte byte : bytes) mix(uint64_t(byte));
  }
  uint64_t value() const { return sum_; }

 private:
  void mix(uint64_t word) {
    sum_ = (sum_ ^ word) * 0x9e3779b97f4a7c15u;
    sum_ ^= sum_ >> 29;
  }
  uint64_t sum_ = kHashStart;
};

uint64_t sum_of(std::span<const std::byte> bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

/// The sources of the cached matrices; nothing when one is no file.
std::optional<std::string> identity(const TensorFile& tensors, DType type) {
  Json::Array sources;
  for (const std::shared_ptr<ByteSource>& source : tensors.sources()) {
    std::error_code failed;
    const fs::path path = fs::canonical(path_of(source->name()), failed);
    if (failed) return std::nullopt;
    const auto changed = fs::last_write_time(path, failed).time_since_epoch().count();
    if (failed) return std::nullopt;
    Json one;
    one.set("path", text_of(path)).set("bytes", source->size());
    sources.push_back(one.set("changed", int64_t(changed)));
  }
  Json all;
  all.set("version", 1).set("format", dtype_name(type));
  return all.set("sources", std::move(sources)).dump();
}

/// The cache's matrices in place of the checkpoint's; nothing when the file is another's or broken.
std::optional<TensorFile> overlay(const TensorFile& tensors, const WantedByName& wanted,
                                  const std::string& path, const std::string& identity) {
  if (!file_exists(path)) return std::nullopt;
  const auto cache = open_safetensors_file(path);
  if (!cache) return std::nullopt;
  const Json* made_from = cache->metadata().find("made_from");
  if (made_from == nullptr || *made_from != Json(identity)) return std::nullopt;
  const TensorInfo* sums = cache->find(kSums);
  if (sums == nullptr || sums->bytes != wanted.size() * sizeof(uint64_t)) return std::nullopt;
  const auto sum_bytes = cache->data(*sums);
  if (!sum_bytes) return std::nullopt;
  std::vector<TensorInfo> infos(tensors.tensors().begin(), tensors.tensors().end());
  size_t next = 0;
  for (TensorInfo& info : infos) {
    const auto found = wanted.find(info.name);
    if (found == wanted.end()) continue;
    const TensorInfo* kept = cache->find(info.name);
    if (kept == nullptr || kept->bytes != found->second.bytes()) return std::nullopt;
    const auto bytes = cache->data(*kept);
    uint64_t sum = 0;
    std::memcpy(&sum, sum_bytes->data() + next++ * sizeof sum, sizeof sum);
    if (!bytes || sum_of(*bytes) != sum) return std::nullopt;
    info.dtype = found->second.type;
    info.shape = {found->second.rows, found->second.columns};
    info.shard = uint32_t(tensors.sources().size());
    info.offset = kept->offset;
    info.bytes = kept->bytes;
  }
  std::vector<std::shared_ptr<ByteSource>> sources(tensors.sources().begin(),
                                                   tensors.sources().end());
  sources.push_back(cache->sources().front());
  auto joined = TensorFile::make(std::move(sources), std::move(infos), tensors.metadata());
  if (!joined) return std::nullopt;
  return *std::move(joined);
}

std::string header(const WantedByName& wanted, const std::string& identity) {
  std::vector<TensorInfo> infos;
  const auto add = [&](const std::string& name, DType dtype, uint64_t count) {
    TensorInfo& info = infos.emplace_back();
    info.name = name;
    info.dtype = dtype;
    info.shape = {count};
    info.bytes = count * dtype_bytes(dtype);
  };
  for (const auto& [name, matrix] : wanted) add(name, DType::kU8, matrix.bytes());
  add(kSums, DType::kU64, wanted.size());
  return safetensors_header(infos, Json(Json::Object{{"made_from", identity}}));
}

/// Rounds the rows of a matrix, some MiB at a time; gives the checksum of the blocks.
Result<uint64_t> put_matrix(WholeFile& out, const TensorFile& tensors, const Wanted& matrix) {
  TOK_TRY(const FileBytes floats, tensors.data(*matrix.info));
  const size_t row_blocks = size_t(block_row_bytes(matrix.type, matrix.columns));
  const size_t row_floats = size_t(matrix.columns) * dtype_bytes(matrix.info->dtype);
  const uint64_t piece_rows = std::max<uint64_t>(1, kPieceBytes / row_blocks);
  std::vector<float> row(size_t(matrix.columns));
  std::vector<std::byte> piece;
  Checksum sum;
  for (uint64_t at = 0; at < matrix.rows && out.good(); at += piece_rows) {
    const uint64_t count = std::min(piece_rows, matrix.rows - at);
    piece.resize(size_t(count) * row_blocks);
    for (uint64_t i = 0; i < count; ++i) {
      load_floats(matrix.info->dtype, floats.data() + size_t(at + i) * row_floats, row);
      quantize_row(matrix.type, row, piece.data() + size_t(i) * row_blocks);
    }
    sum.add(piece);
    out.put(piece);
  }
  return sum.value();
}

/// True when the whole file is there under its name.
Result<bool> write_cache(const TensorFile& tensors, const WantedByName& wanted, FileCache& cache,
                         const std::string& path, const std::string& identity) {
  const std::string text = header(wanted, identity);
  uint64_t bytes = text.size();
  for (const auto& [name, matrix] : wanted) bytes += matrix.bytes() + sizeof(uint64_t);
  if (!cache.make_room(bytes)) return false;
  WholeFile out(path);
  out.put(std::as_bytes(std::span(text)));
  std::vector<uint64_t> sums;
  for (const auto& [name, matrix] : wanted) {
    TOK_TRY(const uint64_t sum, put_matrix(out, tensors, matrix));
    if (!out.good()) break;
    sums.push_back(sum);
  }
  out.put(std::as_bytes(std::span(sums)));
  if (out.commit()) return true;
  cache.could_not_write();
  return false;
}

}  // namespace

Result<TensorFile> with_quantized_cache(const TensorFile& tensors, const Graph& graph,
                                        const std::string& folder,
                                        const std::function<void(const std::string&)>& notice) {
  const WantedByName wanted = wanted_matrices(tensors, graph);
  if (wanted.empty() || folder.empty()) return tensors;
  const auto made_from = identity(tensors, wanted.begin()->second.type);
  if (!made_from) return tensors;
  const std::string path = fmt::format(
      "{}/{:016x}{}", folder, sum_of(std::as_bytes(std::span(*made_from))), kWeightCache.ending);
  if (auto cached = overlay(tensors, wanted, path, *made_from)) {
    FileCache::mark_used(path_of(path));
    return *std::move(cached);
  }
  FileCache cache(folder, kWeightCache);
  TOK_TRY(const bool written, write_cache(tensors, wanted, cache, path, *made_from));
  if (!written) {
    if (notice) {
      notice(
          fmt::format("The next start quantizes the weights anew, since they cannot be kept: {}. "
                      "`tokamak cache` shows what is.",
                      cache.problem()));
    }
    return tensors;
  }
  auto cached = overlay(tensors, wanted, path, *made_from);
  return cached ? *std::move(cached) : tensors;
}

}  // namespace tokamak
