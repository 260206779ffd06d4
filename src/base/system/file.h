// Files of the operating system: what streams do not offer. Native builds only.
//
// Paths are UTF-8. Errors are the system's reason alone, as "No such file or directory": who calls
// names the file and what was wanted. kOutOfMemory: the disk is full; kUsage: the path leads
// nowhere; kInvalidInput: anything else.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace tokamak {

/// Two paths with the same identity lead to one file.
struct FileIdentity {
  uint64_t device = 0, number = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// kOther: a pipe, a socket, a device, or a link that is not followed.
enum class FileKind : uint8_t { kFile, kFolder, kOther };

struct FileState {
  FileKind kind = FileKind::kOther;
  uint64_t bytes = 0;
  uint64_t stored_bytes = 0;  // on the disk: fewer where the file has holes
  FileIdentity identity;
};

Result<FileState> file_state(const std::string& path);
/// The state of a link itself, where the path ends in one.
Result<FileState> link_state(const std::string& path);

bool is_readable(const std::string& path);
/// Errors: this user may not write there.
Result<void> check_writable(const std::string& path);

enum class FileMode : uint8_t {
  kRead,     // reads what is there; does not wait for the writer of a pipe
  kStream,   // reads a pipe, a socket or a device, and waits for its writer
  kChange,   // reads and writes what is there
  kCreate,   // the same; makes an empty file where there is none
  kReplace,  // writes from the start; makes the file, or empties it
  kAppend,   // writes to the end, wherever that is by then; makes the file where there is none
};

struct FileRules {
  bool follows_links = true;  // otherwise a path that ends in a link is an error
  bool is_private = false;    // nobody but this user may open a file that is made
};

enum class StandardStream : uint8_t { kInput, kOutput, kError };

/// An open file; closed with the object. No other program that is started gets it.
class File {
 public:
  /// The system's own name for an open file.
  using Handle = std::intptr_t;

  static Result<File> open(const std::string& path, FileMode mode, FileRules rules = {});
  /// A file that somebody else closes.
  static File borrowed(Handle handle) { return File(handle, false); }
  static File standard(StandardStream stream);

  File() = default;
  File(File&& other) noexcept
      : handle_(std::exchange(other.handle_, kNone)), is_owner_(other.is_owner_) {}
  File& operator=(File&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(is_owner_, other.is_owner_);
    return *this;
  }
  ~File() { close(); }

  bool is_open() const { return handle_ != kNone; }
  void close();
  Handle handle() const { return handle_; }

  Result<FileState> state() const;
  /// Forbids other users to open the file.
  Result<void> make_private();

  /// Reads what has come, at least a byte, and waits for that; 0 bytes are the end.
  Result<size_t> read(std::span<std::byte> out);
  /// Writes all of it, at the end of what was written last.
  Result<void> write(std::string_view bytes);

  /// Reads as much as there is from there, at most all of `out`.
  Result<size_t> read_at(uint64_t offset, std::span<std::byte> out) const;
  /// Writes all of it.
  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes);
  /// Makes the file longer by zeros, or shorter.
  Result<void> resize(uint64_t bytes);
  /// Returns when all of it is on the disk.
  Result<void> flush();

  /// Whether read() would not wait, after waiting for that until there is a signal where `waits`.
  bool has_input(bool waits) const;
  /// Writes what fits without waiting longer than that for room; 0 bytes: nothing did.
  Result<size_t> write_some(std::string_view bytes, int milliseconds);

 private:
  static constexpr Handle kNone = -1;
  explicit File(Handle handle, bool is_owner) : handle_(handle), is_owner_(is_owner) {}

  Handle handle_ = kNone;
  bool is_owner_ = true;
};

}  // namespace tokamak
