#include "formats/wishes.h"

#include <utility>

namespace tokamak {
namespace {

thread_local Wishes* current_wishes = nullptr;

}  // namespace

Wishes::Wishes(Names promised)
    : outer_(std::exchange(current_wishes, this)), promised_(std::move(promised)) {}

Wishes::~Wishes() {
  current_wishes = outer_;
}

Wishes* Wishes::current() {
  return current_wishes;
}

const TensorInfo* Wishes::grant(std::string_view name, const std::vector<uint64_t>& shape) {
  const auto [entry, is_new] = granted_.try_emplace(std::string(name));
  TensorInfo& tensor = entry->second;
  if (is_new) {
    tensor.name = name;
    tensor.shape = shape;
    tensor.bytes = tensor.elements() * dtype_bytes(tensor.dtype);
  }
  return &tensor;
}

const TensorInfo* find_or_wish(const TensorFile& file, std::string_view name,
                               const std::vector<uint64_t>& shape) {
  const TensorInfo* found = file.find(name);
  if (found != nullptr || current_wishes == nullptr) return found;
  return current_wishes->grant(name, shape);
}

bool offers(const TensorFile& file, std::string_view name) {
  if (file.find(name) != nullptr) return true;
  const Wishes* wishes = current_wishes;
  if (wishes == nullptr) return false;
  return wishes->promises(name) || wishes->granted().contains(name);
}

}  // namespace tokamak
