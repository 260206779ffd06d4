// Libraries that the program opens while it runs. Native builds only.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace tokamak {

/// An opened library; closed with the object, unless keep() is called.
class DynamicLibrary {
 public:
  /// kWhenCalled: a function that the library lacks is missed by who calls it, and not here.
  enum class Linking : uint8_t { kAtOnce, kWhenCalled };

  /// `name` is a path, or a name that the system looks for. Errors (kUnsupported) are the system's
  /// reason alone.
  static Result<DynamicLibrary> open(const std::string& name, Linking linking = Linking::kAtOnce);

  DynamicLibrary(DynamicLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), is_kept_(other.is_kept_) {}
  DynamicLibrary& operator=(DynamicLibrary&&) = delete;
  ~DynamicLibrary();

  /// The address of a function or a variable; null where the library does not export it.
  void* find(const char* symbol) const;
  /// Leaves the library open until the program ends.
  void keep() { is_kept_ = true; }
  /// The system's own name for it.
  void* handle() const { return handle_; }

 private:
  explicit DynamicLibrary(void* handle) : handle_(handle) {}

  void* handle_;  // null after a move
  bool is_kept_ = false;
};

/// The functions of a library by their names.
class LibraryFunctions {
 public:
  explicit LibraryFunctions(const DynamicLibrary& library) : library_(library) {}

  template <typename F>
  void operator()(F& function, const char* name) {
    function = reinterpret_cast<F>(library_.find(name));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  /// The first that the library lacks; null when it has all.
  const char* missing() const { return missing_; }

 private:
  const DynamicLibrary& library_;
  const char* missing_ = nullptr;
};

}  // namespace tokamak
