// model.safetensors.index.json, and several files read as one.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "formats/printable.h"
#include "formats/safetensors.h"
#include "formats/unread.h"

namespace tokamak {
namespace {

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && !has_control_character(name) &&
         name.find_first_of("/\\:") == name.npos;
}

Result<SafetensorsIndex> parse(std::string_view text) {
  TOK_TRY(const Json root, Json::parse(text));
  const Json* map = root.find("weight_map");
  if (map == nullptr || !map->is_object()) {
    return invalid_input("\"weight_map\" is {}; expected an object.",
                         map == nullptr ? "missing" : kind_name(map->kind()));
  }
  SafetensorsIndex index;
  for (const auto& [tensor, shard] : map->as_object()) {
    if (!shard.is_string() || !is_plain_file_name(shard.as_string())) {
      return invalid_input(
          "Tensor \"{}\" is placed in \"{}\"; expected the name of a file in the same folder.",
          printable(tensor), printable(shard.is_string() ? shard.as_string() : shard.dump()));
    }
    index.shards.push_back(shard.as_string());
  }
  if (index.shards.empty()) return invalid_input("\"weight_map\" names no tensor.");
  std::ranges::sort(index.shards);
  index.shards.erase(std::ranges::unique(index.shards).begin(), index.shards.end());
  for (const auto& [tensor, shard] : map->as_object()) {
    const auto at = std::ranges::lower_bound(index.shards, shard.as_string());
    index.tensors.emplace_back(tensor, uint32_t(at - index.shards.begin()));
  }
  std::ranges::sort(index.tensors);
  const auto twice = std::ranges::adjacent_find(
      index.tensors, {}, [](const auto& entry) { return std::string_view(entry.first); });
  if (twice != index.tensors.end()) {
    return invalid_input("\"weight_map\" names tensor \"{}\" twice.", printable(twice->first));
  }
  return index;
}

}  // namespace

Result<SafetensorsIndex> parse_safetensors_index(std::string_view name, std::string_view text) {
  auto index = parse(text);
  if (!index) return Failure(index.error().within(name));
  return index;
}

namespace {

/// `unread` null: tensors of unknown types are refused.
Result<TensorFile> read_shards(std::string_view index_name, const SafetensorsIndex& index,
                               std::vector<std::shared_ptr<ByteSource>> sources,
                               UnreadTensors* unread) {
  TOK_CHECK(sources.size() == index.shards.size());
  std::vector<TensorFile> shards;
  for (const auto& source : sources) {
    TOK_TRY(shards.emplace_back(),
            unread != nullptr ? read_safetensors(source, *unread) : read_safetensors(source));
  }
  std::set<std::string_view> unread_names;
  if (unread != nullptr) {
    for (const UnreadTensor& tensor : *unread) unread_names.insert(tensor.name);
  }
  std::vector<TensorInfo> tensors;
  for (const auto& [name, shard] : index.tensors) {
    const TensorInfo* found = shards[shard].find(name);
    if (found == nullptr && unread_names.contains(name)) continue;
    if (found == nullptr) {
      return invalid_input("{}: Tensor \"{}\" is placed in \"{}\", but that file does not hold it.",
                           index_name, printable(name), index.shards[shard]);
    }
    tensors.push_back(*found);
    tensors.back().shard = shard;
  }
  return TensorFile::make(std::move(sources), std::move(tensors), shards[0].metadata());
}

}  // namespace

Result<TensorFile> read_safetensors_shards(std::string_view index_name,
                                           const SafetensorsIndex& index,
                                           std::vector<std::shared_ptr<ByteSource>> sources) {
  return read_shards(index_name, index, std::move(sources), nullptr);
}

Result<TensorFile> read_safetensors_shards(std::string_view index_name,
                                           const SafetensorsIndex& index,
                                           std::vector<std::shared_ptr<ByteSource>> sources,
                                           UnreadTensors& unread) {
  return read_shards(index_name, index, std::move(sources), &unread);
}

}  // namespace tokamak
