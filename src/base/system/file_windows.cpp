#include <windows.h>

#include "base/system/file.h"
// After windows.h, which they need.
#include <aclapi.h>
#include <sddl.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "base/system/path_text.h"
#include "base/system/signals_windows.h"
#include "base/system/text_windows.h"

namespace tokamak {
namespace {

/// Others may read, write and remove the file meanwhile, as on other systems.
constexpr DWORD kShared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr DWORD kPauseMilliseconds = 10;  // of looking again, where nothing wakes
/// The most bytes of one call.
constexpr size_t kMaxBytes = size_t{1} << 30;

HANDLE handle_of(File::Handle handle) {
  return reinterpret_cast<HANDLE>(handle);
}

/// The user of this process in the form that Windows has for texts: "S-1-5-21-...".
std::wstring own_user() {
  HANDLE token = nullptr;
  if (!::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &token)) return L"OW";
  alignas(TOKEN_USER) std::byte buffer[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
  DWORD size = 0;
  wchar_t* text = nullptr;
  const bool is_known =
      ::GetTokenInformation(token, TokenUser, buffer, sizeof buffer, &size) &&
      ::ConvertSidToStringSidW(reinterpret_cast<TOKEN_USER*>(buffer)->User.Sid, &text);
  std::wstring user = is_known ? text : L"OW";  // the owner, whoever that is
  ::LocalFree(text);
  ::CloseHandle(token);
  return user;
}

/// The rights of this user and the system alone.
class OwnerOnly {
 public:
  OwnerOnly() {
    const std::wstring rights = L"D:P(A;;FA;;;" + own_user() + L")(A;;FA;;;SY)";
    ::ConvertStringSecurityDescriptorToSecurityDescriptorW(rights.c_str(), SDDL_REVISION_1,
                                                           &descriptor_, nullptr);
  }
  OwnerOnly(const OwnerOnly&) = delete;
  OwnerOnly& operator=(const OwnerOnly&) = delete;
  ~OwnerOnly() { ::LocalFree(descriptor_); }

  PSECURITY_DESCRIPTOR descriptor() const { return descriptor_; }
  PACL list() const {
    PACL list = nullptr;
    BOOL is_there = FALSE, is_default = FALSE;
    ::GetSecurityDescriptorDacl(descriptor_, &is_there, &list, &is_default);
    return list;
  }

 private:
  PSECURITY_DESCRIPTOR descriptor_ = nullptr;
};

struct Opening {
  DWORD access, disposition;
};

Opening opening_of(FileMode mode) {
  switch (mode) {
    case FileMode::kRead:
    case FileMode::kStream:
      return {GENERIC_READ, OPEN_EXISTING};
    case FileMode::kChange:
      return {GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING};
    case FileMode::kCreate:
      return {GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS};
    case FileMode::kReplace:
      return {GENERIC_WRITE | READ_CONTROL | WRITE_DAC, CREATE_ALWAYS};
    case FileMode::kAppend:
      return {FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE | READ_CONTROL | WRITE_DAC,
              OPEN_ALWAYS};
  }
  return {GENERIC_READ, OPEN_EXISTING};
}

Result<FileState> state_of(HANDLE handle) {
  FileState state;
  if (::GetFileType(handle) != FILE_TYPE_DISK) return state;
  BY_HANDLE_FILE_INFORMATION found = {};
  if (!::GetFileInformationByHandle(handle, &found)) return last_reason();
  const auto both = [](DWORD high, DWORD low) { return uint64_t{high} << 32 | low; };
  const bool is_link = (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
  const bool is_folder = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  state.kind = is_link ? FileKind::kOther : is_folder ? FileKind::kFolder : FileKind::kFile;
  state.bytes = both(found.nFileSizeHigh, found.nFileSizeLow);
  state.identity = {.device = found.dwVolumeSerialNumber,
                    .number = both(found.nFileIndexHigh, found.nFileIndexLow)};
  FILE_STANDARD_INFO standard = {};
  const bool is_known =
      ::GetFileInformationByHandleEx(handle, FileStandardInfo, &standard, sizeof standard) != 0;
  state.stored_bytes = is_known ? uint64_t(standard.AllocationSize.QuadPart) : state.bytes;
  return state;
}

/// The state of what a path leads to; `flags` decide whether links are followed.
Result<FileState> state_at(const std::string& path, DWORD flags) {
  const HANDLE handle = ::CreateFileW(path_of(path).c_str(), FILE_READ_ATTRIBUTES, kShared, nullptr,
                                      OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return last_reason();
  const auto state = state_of(handle);
  ::CloseHandle(handle);
  return state;
}

/// Whether a file or folder may be opened for that.
Result<void> check_access(const std::string& path, DWORD access) {
  const HANDLE handle = ::CreateFileW(path_of(path).c_str(), access, kShared, nullptr,
                                      OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return last_reason();
  ::CloseHandle(handle);
  return {};
}

DWORD call_bytes(size_t bytes) {
  return static_cast<DWORD>(std::min(bytes, kMaxBytes));
}

OVERLAPPED place_of(uint64_t offset) {
  OVERLAPPED place = {};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

/// A console gives what was typed in UTF-16.
Result<size_t> read_console(HANDLE handle, std::span<std::byte> out) {
  wchar_t units[1024];
  const size_t most = std::min(out.size() / 4, std::size(units) - 1);
  DWORD count = 0;
  if (!::ReadConsoleW(handle, units, static_cast<DWORD>(most), &count, nullptr)) {
    return last_reason();
  }
  if (count > 0 && IS_HIGH_SURROGATE(units[count - 1])) {
    DWORD more = 0;
    if (::ReadConsoleW(handle, units + count, 1, &more, nullptr)) count += more;
  }
  constexpr wchar_t kCtrlZ = 0x1A;
  if (count > 0 && units[0] == kCtrlZ) return 0;
  const std::string text = narrow_text({units, count});
  std::ranges::copy(std::as_bytes(std::span(text)), out.begin());
  return text.size();
}

}  // namespace

Result<FileState> file_state(const std::string& path) {
  return state_at(path, 0);
}

Result<FileState> link_state(const std::string& path) {
  return state_at(path, FILE_FLAG_OPEN_REPARSE_POINT);
}

bool is_readable(const std::string& path) {
  return check_access(path, GENERIC_READ).has_value();
}

Result<void> check_writable(const std::string& path) {
  // The right to add a file, where it is a folder.
  return check_access(path, FILE_WRITE_DATA);
}

Result<File> File::open(const std::string& path, FileMode mode, FileRules rules) {
  const Opening opening = opening_of(mode);
  std::optional<OwnerOnly> owner;
  if (rules.is_private) owner.emplace();
  SECURITY_ATTRIBUTES security = {.nLength = sizeof security,
                                  .lpSecurityDescriptor = owner ? owner->descriptor() : nullptr,
                                  .bInheritHandle = FALSE};
  const DWORD links = rules.follows_links ? 0 : FILE_FLAG_OPEN_REPARSE_POINT;
  const HANDLE handle = ::CreateFileW(path_of(path).c_str(), opening.access, kShared,
                                      rules.is_private ? &security : nullptr, opening.disposition,
                                      FILE_FLAG_BACKUP_SEMANTICS | links, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return last_reason();
  File file(reinterpret_cast<Handle>(handle), true);
  if (rules.follows_links) return file;
  TOK_TRY(const FileState state, file.state());
  if (state.kind == FileKind::kOther) return invalid_input("it is a link");
  return file;
}

File File::standard(StandardStream stream) {
  const DWORD number = stream == StandardStream::kInput    ? STD_INPUT_HANDLE
                       : stream == StandardStream::kOutput ? STD_OUTPUT_HANDLE
                                                           : STD_ERROR_HANDLE;
  return borrowed(reinterpret_cast<Handle>(::GetStdHandle(number)));
}

void File::close() {
  if (is_open() && is_owner_) ::CloseHandle(handle_of(handle_));
  handle_ = kNone;
}

Result<FileState> File::state() const {
  return state_of(handle_of(handle_));
}

Result<void> File::make_private() {
  const OwnerOnly owner;
  const DWORD error =
      ::SetSecurityInfo(handle_of(handle_), SE_FILE_OBJECT,
                        DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION, nullptr,
                        nullptr, owner.list(), nullptr);
  ::SetLastError(error);
  if (error != ERROR_SUCCESS) return last_reason();
  return {};
}

Result<size_t> File::read(std::span<std::byte> out) {
  const HANDLE handle = handle_of(handle_);
  DWORD mode = 0, count = 0;
  if (::GetConsoleMode(handle, &mode)) return read_console(handle, out);
  if (::ReadFile(handle, out.data(), call_bytes(out.size()), &count, nullptr)) return count;
  // Who writes into a pipe has closed it.
  if (::GetLastError() == ERROR_BROKEN_PIPE) return 0;
  return last_reason();
}

Result<void> File::write(std::string_view bytes) {
  while (!bytes.empty()) {
    DWORD count = 0;
    const DWORD most = call_bytes(bytes.size());
    if (!::WriteFile(handle_of(handle_), bytes.data(), most, &count, nullptr)) {
      return last_reason();
    }
    bytes.remove_prefix(count);
  }
  return {};
}

Result<size_t> File::read_at(uint64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    OVERLAPPED place = place_of(offset + done);
    DWORD count = 0;
    const DWORD most = call_bytes(out.size() - done);
    if (!::ReadFile(handle_of(handle_), out.data() + done, most, &count, &place)) {
      if (::GetLastError() == ERROR_HANDLE_EOF) break;
      return last_reason();
    }
    if (count == 0) break;
    done += count;
  }
  return done;
}

Result<void> File::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    OVERLAPPED place = place_of(offset);
    DWORD count = 0;
    const DWORD most = call_bytes(bytes.size());
    if (!::WriteFile(handle_of(handle_), bytes.data(), most, &count, &place)) return last_reason();
    bytes = bytes.subspan(count);
    offset += count;
  }
  return {};
}

Result<void> File::resize(uint64_t bytes) {
  FILE_END_OF_FILE_INFO end = {};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  const HANDLE handle = handle_of(handle_);
  if (!::SetFileInformationByHandle(handle, FileEndOfFileInfo, &end, sizeof end)) {
    return last_reason();
  }
  return {};
}

Result<void> File::flush() {
  if (!::FlushFileBuffers(handle_of(handle_))) return last_reason();
  return {};
}

bool File::has_input(bool waits) const {
  const HANDLE handle = handle_of(handle_);
  const HANDLE woken[] = {handle, interrupt_event()};
  switch (::GetFileType(handle)) {
    case FILE_TYPE_CHAR:  // a console
      return ::WaitForMultipleObjects(2, woken, FALSE, waits ? INFINITE : 0) == WAIT_OBJECT_0;
    case FILE_TYPE_PIPE:
      for (;;) {
        DWORD bytes = 0;
        // A pipe whose writer is gone has its end to read.
        if (!::PeekNamedPipe(handle, nullptr, 0, nullptr, &bytes, nullptr) || bytes > 0) {
          return true;
        }
        if (!waits) return false;
        if (::WaitForSingleObject(woken[1], kPauseMilliseconds) == WAIT_OBJECT_0) return false;
      }
    default:
      return true;
  }
}

Result<size_t> File::write_some(std::string_view bytes, int milliseconds) {
  const HANDLE handle = handle_of(handle_);
  const bool is_pipe = ::GetFileType(handle) == FILE_TYPE_PIPE;
  DWORD without_waiting = PIPE_NOWAIT, waiting = PIPE_WAIT;
  const bool waits_never =
      is_pipe && ::SetNamedPipeHandleState(handle, &without_waiting, nullptr, nullptr) != 0;
  const uint64_t end = ::GetTickCount64() + uint64_t(milliseconds);
  DWORD count = 0;
  BOOL is_done = FALSE;
  for (;;) {
    constexpr size_t kMaxPiece = 4096;  // little enough for a pipe
    const DWORD most = call_bytes(std::min(bytes.size(), kMaxPiece));
    is_done = ::WriteFile(handle, bytes.data(), most, &count, nullptr);
    if (!is_done || count > 0 || ::GetTickCount64() >= end) break;
    ::Sleep(kPauseMilliseconds);
  }
  const DWORD error = ::GetLastError();
  if (waits_never) ::SetNamedPipeHandleState(handle, &waiting, nullptr, nullptr);
  ::SetLastError(error);
  if (!is_done) return last_reason();
  return count;
}

}  // namespace tokamak
