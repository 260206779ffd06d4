#include "backend/cuda/products.h"

namespace tokamak::cuda {
namespace {

/// The size that NVIDIA recommends for its largest GPUs; smaller ones use less of it.
constexpr size_t kWorkspaceBytes = size_t{32} << 20;
/// Steps over prompts have as many sizes as prompts have lengths.
constexpr size_t kMaxShapes = 512;
/// CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES; those of B, C and D follow it.
constexpr int kFirstAlignment = 5;
constexpr uint32_t kAlignment = 16;

}  // namespace

Result<std::unique_ptr<Products>> Products::make(std::shared_ptr<CudaDevice> device) {
  const Result<ProductLibrary>& found = product_library();
  if (!found) return Failure(found.error());
  std::unique_ptr<Products> own(new Products(std::move(device), found->api));
  const ProductApi& api = own->api_;
  TOK_TRY(own->check(api.create(&own->handle_), "is not opened"));
  // Its matrices are stored column by column: ours, row by row, are their transposes. So it has
  // yᵀ = w xᵀ, of which w is to be transposed.
  for (ProductKind* kind : {&own->kind_, &own->kind_with_bias_}) {
    TOK_TRY(own->check(api.kind_create(kind, kSumInF32, NumberType::kF32), "has no product"));
    TOK_TRY(own->check(api.kind_set(*kind, kProductTransA, &kTransposed, sizeof kTransposed),
                       "transposes nothing"));
  }
  TOK_TRY(
      own->check(api.kind_set(own->kind_with_bias_, kProductEpilogue, &kAddsBias, sizeof kAddsBias),
                 "adds nothing"));
  TOK_TRY(own->check(api.preference_create(&own->preference_), "has no preferences"));
  TOK_TRY(own->check(
      api.preference_set(own->preference_, kMaxWorkspace, &kWorkspaceBytes, sizeof kWorkspaceBytes),
      "takes no workspace"));
  for (int i = 0; i < 4; ++i) {
    TOK_TRY(own->check(
        api.preference_set(own->preference_, kFirstAlignment + i, &kAlignment, sizeof kAlignment),
        "takes no alignment"));
  }
  TOK_TRY(own->workspace_,
          DeviceMemory::make(own->device_, kWorkspaceBytes, "the workspace of cuBLASLt"));
  return own;
}

Products::~Products() {
  forget_shapes();
  if (preference_ != nullptr) api_.preference_destroy(preference_);
  for (const ProductKind kind : {kind_, kind_with_bias_}) {
    if (kind != nullptr) api_.kind_destroy(kind);
  }
  // It owns memory of a context that may be gone.
  if (handle_ != nullptr && device_->enter()) api_.destroy(handle_);
}

void Products::forget_shapes() {
  for (const auto& [shape, own] : shapes_) {
    for (const MatrixLayout layout : {own.x, own.w, own.y}) {
      if (layout != nullptr) api_.layout_destroy(layout);
    }
  }
  shapes_.clear();
}

Result<void> Products::check(ProductStatus status, std::string_view what) {
  if (status == ProductStatus::kSuccess) return {};
  // Whether the device is lost the driver knows.
  TOK_TRY(device_->check(device_->api().stream_synchronize(device_->stream()), "cuBLASLt"));
  return fail(ErrorCode::kDevice, "cuBLASLt {}: its error {}.", what, int(status));
}

Result<const Products::Prepared*> Products::prepared(const ProductShape& shape) {
  if (const auto found = shapes_.find(shape); found != shapes_.end()) return &found->second;
  if (shapes_.size() == kMaxShapes) forget_shapes();
  Prepared& own = shapes_[shape];
  const auto make = [&]() -> Result<void> {
    const uint64_t tokens = shape.tokens, rows = shape.rows, columns = shape.columns;
    const auto layout = [&](MatrixLayout& of, NumberType type, uint64_t width, uint64_t count) {
      return check(api_.layout_create(&of, type, width, count, int64_t(width)), "has no matrix");
    };
    TOK_TRY(layout(own.w, shape.type, columns, rows));
    TOK_TRY(layout(own.x, shape.type, columns, tokens));
    TOK_TRY(layout(own.y, shape.is_rounded ? shape.type : NumberType::kF32, rows, tokens));
    int count = 0;
    TOK_TRY(check(api_.choose(handle_, kind(shape), own.w, own.x, own.y, own.y, preference_, 1,
                              &own.choice, &count),
                  "has no algorithm"));
    if (count > 0) return {};
    return unsupported("cuBLASLt multiplies no {} x {} by {} x {} of 16 bits.", tokens, columns,
                       rows, columns);
  };
  if (const Result<void> made = make(); !made) {
    forget_shapes();
    return Failure(made.error());
  }
  return &own;
}

Result<void> Products::multiply(const ProductShape& shape, const Addresses& at) {
  TOK_TRY(const Prepared* own, prepared(shape));
  if (shape.has_bias) {
    TOK_TRY(check(api_.kind_set(kind_with_bias_, kProductBias, &at.bias, sizeof at.bias),
                  "takes no bias"));
  }
  constexpr float kOne = 1, kZero = 0;
  return check(api_.multiply(handle_, kind(shape), &kOne, at.w, own->w, at.x, own->x, &kZero, at.y,
                             own->y, at.y, own->y, &own->choice.algorithm, workspace_.address(),
                             kWorkspaceBytes, device_->stream()),
               "does not multiply");
}

}  // namespace tokamak::cuda
