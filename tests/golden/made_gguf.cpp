#include "golden/made_gguf.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "formats/gguf.h"
#include "formats/gguf_writer.h"

namespace tokamak::golden {
namespace {

constexpr uint64_t kAlignment = 32;

template <typename T>
std::string bytes_of(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

std::string text_bytes(const std::string& text) {
  return bytes_of(uint64_t{text.size()}) + text;
}

/// All of one kind, that of the first: texts, truths, whole numbers or numbers.
std::string list_bytes(const Json::Array& list) {
  const Json& first = list.front();
  const GgufType type = first.is_string()    ? GgufType::kString
                        : first.is_bool()    ? GgufType::kBool
                        : first.is_integer() ? GgufType::kI32
                                             : GgufType::kF32;
  std::string out = bytes_of(uint32_t(type)) + bytes_of(uint64_t{list.size()});
  for (const Json& one : list) {
    if (one.is_string()) {
      out += text_bytes(one.as_string());
    } else if (one.is_bool()) {
      out += bytes_of(uint8_t(one.as_bool()));
    } else {
      out +=
          one.is_integer() ? bytes_of(int32_t(one.as_integer())) : bytes_of(float(one.as_number()));
    }
  }
  return out;
}

GgufEntry entry(const std::string& key, const Json& value) {
  const auto typed = [&](GgufType type, const std::string& bytes) {
    return GgufEntry{key, text_bytes(key) + bytes_of(uint32_t(type)) + bytes};
  };
  if (value.is_bool()) return typed(GgufType::kBool, bytes_of(uint8_t(value.as_bool())));
  if (value.is_integer()) return typed(GgufType::kU32, bytes_of(uint32_t(value.as_integer())));
  if (value.is_string()) return typed(GgufType::kString, text_bytes(value.as_string()));
  if (!value.is_array()) return typed(GgufType::kF32, bytes_of(float(value.as_number())));
  return typed(GgufType::kArray, list_bytes(value.as_array()));
}

std::string renamed(const std::string& name, const GgufForm& form) {
  std::string prefix, stem = name;
  if (name.starts_with(form.layers)) {
    const size_t dot = name.find('.', form.layers.size());
    prefix = form.blocks + name.substr(form.layers.size(), dot + 1 - form.layers.size());
    stem = name.substr(dot + 1);
  }
  if (const size_t experts = stem.find("experts."); experts != std::string::npos) {
    const size_t number = experts + std::string_view("experts.").size();
    const size_t dot = stem.find('.', number);
    if (stem[number] >= '0' && stem[number] <= '9') stem.erase(number, dot + 1 - number);
  }
  std::string suffix;
  for (const char* ending : {".weight", ".bias"}) {
    if (!stem.ends_with(ending)) continue;
    suffix = ending;
    stem.resize(stem.size() - suffix.size());
  }
  const auto found =
      std::ranges::find(form.names, stem, &std::pair<std::string, std::string>::first);
  EXPECT_TRUE(found != form.names.end()) << name;
  return found == form.names.end() ? name : prefix + found->second + suffix;
}

/// The numbers that layers have under that name, one each.
Json numbers_of_layers(const TensorFile& checkpoint, const GgufForm& form,
                       const std::string& stem) {
  Json::Array numbers;
  while (const TensorInfo* const tensor =
             checkpoint.find(fmt::format("{}{}.{}", form.layers, numbers.size(), stem))) {
    float value = 0;
    std::memcpy(&value, checkpoint.data(*tensor)->data(), sizeof value);
    numbers.emplace_back(double(value));
  }
  return numbers;
}

bool is_listed(const std::string& name, const GgufForm& form) {
  return std::ranges::any_of(form.lists,
                             [&](const auto& one) { return name.ends_with(one.second); });
}

bool is_part(const std::string& name, const GgufForm& form) {
  return form.parts.empty() || std::ranges::any_of(form.parts, [&](const std::string& prefix) {
           return name.starts_with(prefix);
         });
}

}  // namespace

void LooseTensor::take_rows(const std::vector<uint64_t>& rows) {
  const uint64_t row = bytes.size() / info.shape[0];
  std::string taken;
  for (const uint64_t index : rows) taken += bytes.substr(index * row, row);
  bytes = std::move(taken);
  info.shape[0] = rows.size();
}

void LooseTensor::transpose() {
  const uint64_t each = element_bytes(), out = info.shape.back();
  const uint64_t in = info.shape[info.shape.size() - 2];
  std::string turned(bytes.size(), '\0');
  for (uint64_t i = 0; i < bytes.size() / each; ++i) {
    const uint64_t matrix = i / (in * out), row = i / out % in, column = i % out;
    std::memcpy(&turned[((matrix * out + column) * in + row) * each], &bytes[i * each], each);
  }
  bytes = std::move(turned);
  std::swap(info.shape.back(), info.shape[info.shape.size() - 2]);
}

LooseTensor rows_as(const LooseTensor& tensor, const std::string& old, const std::string& name,
                    const std::vector<uint64_t>& rows) {
  LooseTensor out = tensor;
  out.info.name.replace(out.info.name.find(old), old.size(), name);
  out.take_rows(rows);
  return out;
}

std::vector<LooseTensor> expert_tensors(LooseTensor tensor) {
  const std::string& name = tensor.info.name;
  if (name.find("_exps") == std::string::npos) return {std::move(tensor)};
  tensor.transpose();
  tensor.info.name += ".weight";
  if (name.find("gate_up") == std::string::npos) return {std::move(tensor)};
  const std::vector<uint64_t> shape = tensor.info.shape;
  const uint64_t ffn = shape[1] / 2;
  tensor.info.shape = {shape[0] * shape[1], shape[2]};
  std::vector<LooseTensor> out;
  for (const auto& [part, first] : {std::pair{"gate", uint64_t{0}}, std::pair{"up", ffn}}) {
    std::vector<uint64_t> rows;
    for (uint64_t e = 0; e < shape[0]; ++e) {
      for (const uint64_t row : row_range(e * 2 * ffn + first, ffn)) rows.push_back(row);
    }
    out.push_back(rows_as(tensor, "gate_up", part, rows));
    out.back().info.shape = {shape[0], ffn, shape[2]};
  }
  return out;
}

void change_floats(LooseTensor& tensor, const std::function<float(float)>& change) {
  std::string out;
  const uint64_t each = tensor.element_bytes();
  for (size_t at = 0; at < tensor.bytes.size(); at += each) {
    float value = 0;  // bf16 is the upper half of f32
    std::memcpy(reinterpret_cast<char*>(&value) + sizeof value - each, &tensor.bytes[at], each);
    value = change(value);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  tensor.bytes = std::move(out);
  tensor.info.dtype = DType::kF32;
}

GgufNumbers gguf_sizes(uint32_t hidden, uint32_t layers, uint32_t heads, uint32_t ffn,
                       uint32_t positions, const GgufNumbers& more) {
  GgufNumbers all = {{"embedding_length", hidden},
                     {"block_count", layers},
                     {"attention.head_count", heads},
                     {"feed_forward_length", ffn},
                     {"context_length", positions}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<std::string> names_of(const GgufForms& forms) {
  std::vector<std::string> names;
  for (const auto& [name, form] : forms) names.push_back(name);
  return names;
}

std::vector<uint64_t> rows_in_pairs(uint64_t rows, uint64_t heads) {
  const uint64_t d = rows / heads;
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < rows; ++i) order.push_back(i / d * d + i % 2 * (d / 2) + i % d / 2);
  return order;
}

std::vector<uint64_t> row_range(uint64_t first, uint64_t count) {
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < count; ++i) rows.push_back(first + i);
  return rows;
}

void write_gguf(const std::string& path, const TensorFile& checkpoint, const GgufForm& form) {
  std::vector<GgufEntry> entries{entry("general.architecture", form.architecture)};
  for (const auto& [key, value] : form.metadata) {
    entries.push_back(entry(fmt::format("{}.{}", form.architecture, key), value));
  }
  for (const auto& [key, stem] : form.lists) {
    entries.push_back(entry(fmt::format("{}.{}", form.architecture, key),
                            numbers_of_layers(checkpoint, form, stem)));
  }
  if (!form.tokens.empty()) entries.push_back(entry("tokenizer.ggml.tokens", form.tokens));
  std::vector<LooseTensor> all;
  const auto add = [&](LooseTensor tensor) {
    const bool is_expert = tensor.info.name.find("_exps") != std::string::npos;
    if (is_expert && tensor.info.shape.size() == 2) {
      tensor.info.shape.insert(tensor.info.shape.begin(), 1);
    }
    const auto same = std::ranges::find(all, tensor.info.name,
                                        [](const LooseTensor& one) { return one.info.name; });
    if (same == all.end()) return all.push_back(std::move(tensor));
    same->bytes += tensor.bytes;
    ++same->info.shape[0];
  };
  for (const auto& [name, values] : form.vectors) {
    LooseTensor one{{.name = name, .shape = {values.size()}}, {}};
    for (const float value : values) one.bytes += bytes_of(value);
    add(std::move(one));
  }
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    if (is_listed(tensor.name, form) || !is_part(tensor.name, form)) continue;
    const auto bytes = checkpoint.data(tensor);
    ASSERT_TRUE(bytes) << bytes.error().message;
    LooseTensor one{tensor,
                    std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())};
    one.info.name = renamed(tensor.name, form);
    if (!form.change) {
      add(std::move(one));
      continue;
    }
    for (LooseTensor& own : form.change(std::move(one))) add(std::move(own));
  }
  std::vector<TensorInfo> tensors;
  std::string data;
  for (LooseTensor& tensor : all) {
    tensor.info.bytes = tensor.bytes.size();
    tensors.push_back(std::move(tensor.info));
    data += tensor.bytes;
    data.resize((data.size() + kAlignment - 1) / kAlignment * kAlignment);
  }
  std::ofstream file(path, std::ios::binary);
  file << gguf_header(entries, tensors, kAlignment) << data;
  ASSERT_TRUE(file.good()) << path;
}

}  // namespace tokamak::golden
