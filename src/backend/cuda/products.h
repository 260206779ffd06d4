// Products of bf16 by cuBLASLt: which of its algorithms, chosen once for every shape.
#pragma once
#include <map>
#include <memory>

#include "backend/cuda/memory.h"

namespace tokamak::cuda {

/// y = x wᵀ: x [tokens, columns] and w [rows, columns] in bf16, y [tokens, rows] in f32.
struct ProductShape {
  uint32_t tokens = 1, rows = 1, columns = 1;
  auto operator<=>(const ProductShape&) const = default;
};

class Products {
 public:
  static Result<std::unique_ptr<Products>> make(std::shared_ptr<CudaDevice> device);
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products();

  /// Puts it onto the device's stream. All addresses are multiples of 16.
  Result<void> multiply(const ProductShape& shape, DevicePointer x, DevicePointer w,
                        DevicePointer y);

 private:
  struct Prepared {
    MatrixLayout x = nullptr, w = nullptr, y = nullptr;
    ProductChoice choice;
  };

  Products(std::shared_ptr<CudaDevice> device, const ProductApi& api)
      : device_(std::move(device)), api_(api) {}
  Result<void> check(ProductStatus status, std::string_view what);
  Result<const Prepared*> prepared(const ProductShape& shape);
  void forget_shapes();

  std::shared_ptr<CudaDevice> device_;
  const ProductApi& api_;
  ProductHandle handle_ = nullptr;
  ProductKind kind_ = nullptr;
  ProductPreference preference_ = nullptr;
  DeviceMemory workspace_;
  std::map<ProductShape, Prepared> shapes_;
};

}  // namespace tokamak::cuda
