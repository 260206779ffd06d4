// Products of bf16 and f16 by cuBLASLt: which of its algorithms, chosen once for every shape.
#pragma once
#include <map>
#include <memory>

#include "backend/cuda/memory.h"

namespace tokamak::cuda {

/// y = x wᵀ (+ bias): x [tokens, columns] and w [rows, columns] of a type of 16 bits, y [tokens,
/// rows] and bias [rows] in f32; y of their type where it is rounded.
struct ProductShape {
  uint32_t tokens = 1, rows = 1, columns = 1;
  NumberType type = NumberType::kBf16;
  bool has_bias = false, is_rounded = false;
  auto operator<=>(const ProductShape&) const = default;
};

class Products {
 public:
  static Result<std::unique_ptr<Products>> make(std::shared_ptr<CudaDevice> device);
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products();

  struct Addresses {
    DevicePointer x = 0, w = 0, bias = 0, y = 0;  // multiples of 16
  };
  /// Puts it onto the device's stream.
  Result<void> multiply(const ProductShape& shape, const Addresses& at);

 private:
  struct Prepared {
    MatrixLayout x = nullptr, w = nullptr, y = nullptr;
    ProductChoice choice;
  };

  Products(std::shared_ptr<CudaDevice> device, const ProductApi& api)
      : device_(std::move(device)), api_(api) {}
  Result<void> check(ProductStatus status, std::string_view what);
  ProductKind kind(const ProductShape& shape) const {
    return shape.has_bias ? kind_with_bias_ : kind_;
  }
  Result<const Prepared*> prepared(const ProductShape& shape);
  void forget_shapes();

  std::shared_ptr<CudaDevice> device_;
  const ProductApi& api_;
  ProductHandle handle_ = nullptr;
  ProductKind kind_ = nullptr, kind_with_bias_ = nullptr;
  ProductPreference preference_ = nullptr;
  DeviceMemory workspace_;
  std::map<ProductShape, Prepared> shapes_;
};

}  // namespace tokamak::cuda
