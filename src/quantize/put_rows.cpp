#include "quantize/put_rows.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/background_task.h"
#include "base/bits.h"

namespace tokamak {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{8} << 20;
constexpr uint64_t kChunkWeights = uint64_t{4} << 20;  // that all threads share

/// Each thread has its own rows of `out`; the error is that of the first row that has one.
Result<void> make_chunk(const RowMaker& rows, uint64_t first, uint64_t count, uint32_t threads,
                        std::span<std::byte> out) {
  const uint64_t share = ceil_div(count, uint64_t{threads});
  std::vector<Result<void>> results(threads);
  {
    std::vector<std::unique_ptr<BackgroundTask>> tasks;
    for (uint64_t at = 0, i = 0; at < count; at += share, ++i) {
      std::byte* const begin = out.data() + size_t(at * rows.row_bytes);
      const auto make = [&rows, &result = results[size_t(i)], from = first + at,
                         some = std::min(share, count - at),
                         begin] { result = rows.make(from, some, begin); };
      tasks.push_back(std::make_unique<BackgroundTask>(make));
    }
    for (const auto& task : tasks) TOK_TRY(task->wait());
  }
  for (const Result<void>& result : results) TOK_TRY(result);
  return {};
}

}  // namespace

Result<void> check_cancelled(const Cancelled& cancelled) {
  if (cancelled && cancelled()) return Failure(Error{ErrorCode::kCancelled, "Interrupted."});
  return {};
}

Result<void> put_bytes(const std::function<Result<FileBytes>(uint64_t, uint64_t)>& view,
                       uint64_t from, uint64_t to, const Cancelled& cancelled,
                       const ByteSink& sink) {
  for (uint64_t at = from; at < to; at += kPieceBytes) {
    TOK_TRY(check_cancelled(cancelled));
    TOK_TRY(const FileBytes piece, view(at, std::min(kPieceBytes, to - at)));
    TOK_TRY(sink({piece.data(), piece.size()}));
  }
  return {};
}

Result<void> copy_tensor(const TensorFile& file, const TensorInfo& tensor,
                         const Cancelled& cancelled, const ByteSink& sink) {
  TOK_TRY(const TensorBytes bytes, file.pieces(tensor));
  const auto view = [&](uint64_t at, uint64_t count) { return bytes.view(at, count); };
  return put_bytes(view, 0, tensor.bytes, cancelled, sink);
}

Result<void> put_rows(const RowMaker& rows, uint32_t threads, const Cancelled& cancelled,
                      const ByteSink& sink) {
  threads = std::max(threads, 1u);
  const uint64_t most = std::max<uint64_t>(kChunkWeights / rows.columns, threads);
  std::vector<std::byte> chunk(size_t(std::min(most, rows.count) * rows.row_bytes));
  for (uint64_t at = 0; at < rows.count; at += most) {
    TOK_TRY(check_cancelled(cancelled));
    const uint64_t some = std::min(most, rows.count - at);
    const auto part = std::span(chunk).first(size_t(some * rows.row_bytes));
    TOK_TRY(make_chunk(rows, at, some, threads, part));
    TOK_TRY(sink(part));
  }
  return {};
}

}  // namespace tokamak
