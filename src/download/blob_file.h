// A blob of the cache while its contents arrive, in parts and in any order.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/system/file.h"
#include "hub/parts.h"
#include "hub/reply.h"

namespace tokamak::download {

class BlobFile {
 public:
  /// Finds what an earlier pull has left in `blobs`, or begins anew. Errors name the file and say
  /// when the disk is full. No file stays open before the first write(): a repository may have more
  /// files than a process may open.
  static Result<BlobFile> open(const std::string& blobs, const hub::RepoFile& file);

  /// Bytes of `file` that an earlier pull has left in `blobs`.
  static uint64_t left_before(const std::string& blobs, const hub::RepoFile& file);

  const hub::Parts& parts() const { return parts_; }

  /// Appends to what is there of a part. REQUIRES: the bytes belong to the part.
  Result<void> write(size_t part, std::span<const std::byte> bytes);

  /// Compares size and hash and gives the blob its name. Contents with another hash are deleted.
  /// `checked` gets how many bytes were looked at.
  Result<void> finish(const std::function<void(uint64_t)>& checked);

 private:
  BlobFile(std::string path, hub::RepoFile file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string contents_path() const;
  std::string counts_path() const;
  /// Opens the files, if they are not open.
  Result<void> open_files(FileMode mode);
  void close_files();
  /// Reads the counts, or writes new ones.
  Result<void> find_parts();
  Failure failed(std::string_view what, const Error& reason) const;
  Failure write_failed(const Error& reason) const { return failed("Writing", reason); }

  std::string path_;  // of the finished blob
  hub::RepoFile file_;
  File contents_, counts_;
  hub::Parts parts_;
};

}  // namespace tokamak::download
