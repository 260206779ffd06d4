#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "base/check.h"
#include "formats/printable.h"
#include "formats/unread.h"

namespace tokamak {
namespace {

struct DTypeSpelling {
  std::string_view text;
  DType dtype;
};
constexpr std::array<DTypeSpelling, kDTypeCount> kSpellings = {{{"F32", DType::kF32},
                                                                {"F16", DType::kF16},
                                                                {"BF16", DType::kBF16},
                                                                {"U32", DType::kU32},
                                                                {"I32", DType::kI32},
                                                                {"U8", DType::kU8},
                                                                {"I8", DType::kI8},
                                                                {"I16", DType::kI16},
                                                                {"U16", DType::kU16},
                                                                {"I64", DType::kI64},
                                                                {"U64", DType::kU64},
                                                                {"F64", DType::kF64},
                                                                {"BOOL", DType::kBool},
                                                                {"F8_E4M3", DType::kF8E4M3},
                                                                {"F8_E5M2", DType::kF8E5M2},
                                                                {"F8_E8M0", DType::kF8E8M0}}};

std::optional<DType> dtype_of(std::string_view text) {
  for (const DTypeSpelling& spelling : kSpellings) {
    if (spelling.text == text) return spelling.dtype;
  }
  return std::nullopt;
}

/// The one member of that name; an error when it is missing or occurs twice.
Result<const Json*> only_member(const Json& object, std::string_view name) {
  const Json* found = nullptr;
  for (const Json::Member& member : object.as_object()) {
    if (member.first != name) continue;
    if (found != nullptr) return invalid_input("\"{}\" occurs twice.", name);
    found = &member.second;
  }
  if (found == nullptr) return invalid_input("\"{}\" is missing.", name);
  return found;
}

Result<uint64_t> count_of(const Json& value, std::string_view what) {
  if (!value.is_integer() || value.as_integer() < 0) {
    return invalid_input("{} holds {}; only whole numbers from 0 are allowed.", what,
                         value.is_number() ? shown(value) : std::string(kind_name(value.kind())));
  }
  return uint64_t(value.as_integer());
}

/// The product of the shape and the element size; nothing when it does not fit into 64 bits.
std::optional<uint64_t> bytes_of(std::span<const uint64_t> shape, DType dtype) {
  uint64_t bytes = dtype_bytes(dtype);
  for (const uint64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

/// A tensor as the header has it. `offset` is still relative to the data.
struct Listed {
  TensorInfo tensor;
  std::string unread_type;  // "" for types that are read
};

/// One entry of the header, of a file with that many bytes of data.
Result<Listed> read_entry(std::string_view name, const Json& entry, uint64_t data_bytes,
                          bool lists_unread) {
  if (!entry.is_object()) {
    return invalid_input("The entry is {}; expected an object.", kind_name(entry.kind()));
  }
  Listed listed;
  TensorInfo& tensor = listed.tensor;
  tensor.name = name;

  TOK_TRY(const Json* dtype, only_member(entry, "dtype"));
  if (!dtype->is_string()) {
    return invalid_input("\"dtype\" is {}; expected a string.", kind_name(dtype->kind()));
  }
  const std::optional<DType> known = dtype_of(dtype->as_string());
  if (!known && (!lists_unread || dtype->as_string().empty())) {
    return unsupported("The dtype \"{}\" is not known.", printable(dtype->as_string()));
  }
  if (!known) listed.unread_type = printable(dtype->as_string());
  tensor.dtype = known.value_or(DType::kU8);

  TOK_TRY(const Json* shape, only_member(entry, "shape"));
  if (!shape->is_array()) {
    return invalid_input("\"shape\" is {}; expected an array.", kind_name(shape->kind()));
  }
  for (const Json& extent : shape->as_array()) {
    TOK_TRY(tensor.shape.emplace_back(), count_of(extent, "\"shape\""));
  }

  TOK_TRY(const Json* offsets, only_member(entry, "data_offsets"));
  if (!offsets->is_array() || offsets->as_array().size() != 2) {
    return invalid_input("\"data_offsets\" is not an array of two numbers.");
  }
  TOK_TRY(const uint64_t begin, count_of(offsets->as_array()[0], "\"data_offsets\""));
  TOK_TRY(const uint64_t end, count_of(offsets->as_array()[1], "\"data_offsets\""));
  if (end < begin) {
    return invalid_input("\"data_offsets\" ends at {}, before its begin at {}.", end, begin);
  }
  const std::optional<uint64_t> expected = bytes_of(tensor.shape, tensor.dtype);
  if (!expected) {
    return invalid_input("The shape {} has more bytes than 64 bits can count.",
                         printable(shape->dump()));
  }
  if (known && end - begin != *expected) {
    return invalid_input("\"data_offsets\" spans {} bytes, but {} has {} bytes.", end - begin,
                         printable(describe(tensor)), *expected);
  }
  if (end > data_bytes) {
    return invalid_input(
        "The tensor ends at byte {} of the data, but the file has only {} bytes of data.", end,
        data_bytes);
  }
  tensor.offset = begin;
  tensor.bytes = end - begin;
  return listed;
}

/// The tensors must follow one another without gap or overlap and end where the file ends.
Result<void> check_cover(std::vector<TensorInfo>& tensors, uint64_t data_bytes) {
  std::ranges::sort(tensors, [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
  });
  uint64_t end = 0;
  const TensorInfo* previous = nullptr;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.offset < end) {
      return invalid_input(
          "Tensor \"{}\" begins at byte {} of the data and overlaps tensor \"{}\", which ends at "
          "byte {}.",
          printable(tensor.name), tensor.offset, printable(previous->name), end);
    }
    if (tensor.offset > end) {
      return invalid_input("No tensor covers the bytes {} to {} of the data, before tensor \"{}\".",
                           end, tensor.offset, printable(tensor.name));
    }
    end = tensor.offset + tensor.bytes;
    previous = &tensor;
  }
  if (end != data_bytes) {
    return invalid_input(
        "The tensors end at byte {} of the data, but the file has {} bytes of data.", end,
        data_bytes);
  }
  return {};
}

struct Header {
  std::vector<TensorInfo> tensors;  // offsets count from the start of the file
  UnreadTensors unread;
  Json metadata;
};

Result<Header> read_header(const ByteSource& source, bool lists_unread) {
  const uint64_t size = source.size();
  if (size < 8) {
    return invalid_input("The file has {} bytes; a safetensors file has at least 8.", size);
  }
  std::array<std::byte, 8> prefix;
  TOK_TRY(source.read(0, prefix));
  uint64_t length = 0;
  for (uint32_t i = 0; i < 8; ++i) length |= uint64_t(prefix[i]) << (8 * i);
  if (length > kMaxSafetensorsHeaderBytes) {
    return invalid_input("The header claims {} bytes; at most {} are allowed.", length,
                         kMaxSafetensorsHeaderBytes);
  }
  if (length > size - 8) {
    return invalid_input("The header claims {} bytes, but only {} bytes follow its length field.",
                         length, size - 8);
  }
  if (length == 0) return invalid_input("The header is empty.");
  TOK_TRY(const auto bytes, source.view(8, length));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto parsed = Json::parse(text);
  if (!parsed) return Failure(parsed.error().within("The header is not valid JSON"));
  if (!parsed->is_object()) {
    return invalid_input("The header is {}; expected an object.", kind_name(parsed->kind()));
  }

  Header header{.metadata = Json(Json::Object{})};
  const uint64_t data_begin = 8 + length;
  bool has_metadata = false;
  std::map<std::string, std::string> unread_types;  // by name
  for (auto& [name, entry] : parsed->as_object()) {
    if (name == "__metadata__") {
      const bool strings = entry.is_object() &&
                           std::ranges::all_of(entry.as_object(), [](const Json::Member& member) {
                             return member.second.is_string();
                           });
      if (!strings || has_metadata) {
        return invalid_input("\"__metadata__\" is not one object of strings.");
      }
      has_metadata = true;
      header.metadata = std::move(entry);
      continue;
    }
    if (name.empty() || has_control_character(name)) {
      return invalid_input("The tensor name \"{}\" is empty or contains a control character.",
                           printable(name));
    }
    auto listed = read_entry(name, entry, size - data_begin, lists_unread);
    if (!listed) {
      return Failure(listed.error().within(fmt::format("Tensor \"{}\"", printable(name))));
    }
    if (!listed->unread_type.empty()) unread_types[name] = listed->unread_type;
    header.tensors.push_back(std::move(listed->tensor));
  }
  // Twice the same name is reported before the overlap that it usually means.
  std::ranges::sort(header.tensors, {}, &TensorInfo::name);
  const auto twice = std::ranges::adjacent_find(header.tensors, {}, &TensorInfo::name);
  if (twice != header.tensors.end()) {
    return invalid_input("Tensor \"{}\" occurs twice.", printable(twice->name));
  }
  TOK_TRY(check_cover(header.tensors, size - data_begin));
  for (const TensorInfo& tensor : header.tensors) {
    const auto unread = unread_types.find(tensor.name);
    if (unread == unread_types.end()) continue;
    header.unread.push_back({.name = tensor.name,
                             .type = unread->second,
                             .shape = tensor.shape,
                             .bytes = tensor.bytes});
  }
  std::erase_if(header.tensors,
                [&](const TensorInfo& tensor) { return unread_types.contains(tensor.name); });
  for (TensorInfo& tensor : header.tensors) tensor.offset += data_begin;
  return header;
}

/// `unread` null: tensors of unknown types are refused.
Result<TensorFile> read_any(std::shared_ptr<ByteSource> source, UnreadTensors* unread) {
  auto header = read_header(*source, unread != nullptr);
  if (!header) return Failure(header.error().within(source->name()));
  if (unread != nullptr) std::ranges::move(header->unread, std::back_inserter(*unread));
  return TensorFile::make({std::move(source)}, std::move(header->tensors),
                          std::move(header->metadata));
}

}  // namespace

std::string_view safetensors_dtype_name(DType dtype) {
  const auto found = std::ranges::find(kSpellings, dtype, &DTypeSpelling::dtype);
  TOK_CHECK(found != kSpellings.end());
  return found->text;
}

Result<TensorFile> read_safetensors(std::shared_ptr<ByteSource> source) {
  return read_any(std::move(source), nullptr);
}

Result<TensorFile> read_safetensors(std::shared_ptr<ByteSource> source, UnreadTensors& unread) {
  return read_any(std::move(source), &unread);
}

}  // namespace tokamak
