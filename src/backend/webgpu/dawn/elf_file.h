// A 64-bit ELF library read as a file: finds symbols that are in it but not exported by it.
//
// Every offset and size is checked against the file when it is opened, so that a truncated or
// foreign file is an error here and not a fault in the system's loader.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/system/mapped_file.h"

namespace tokamak {

struct ElfSymbol {
  uint64_t address = 0;  // relative to where the library is loaded
  uint64_t bytes = 0;
};

class ElfFile {
 public:
  /// Maps the file. kDevice when it is missing, not a 64-bit little-endian ELF file, or truncated.
  static Result<ElfFile> open(const std::string& path);

  /// A defined symbol of .symtab by its exact (mangled) name.
  std::optional<ElfSymbol> find(std::string_view name) const;

 private:
  ElfFile() = default;
  Result<void> read_tables(const std::string& path);

  MappedFile file_;
  std::span<const std::byte> symbols_;  // .symtab, inside file_
  std::span<const std::byte> strings_;  // the names of .symtab, inside file_
};

}  // namespace tokamak
