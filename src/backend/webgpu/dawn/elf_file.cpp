#include "backend/webgpu/dawn/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tokamak {
namespace {

using Bytes = std::span<const std::byte>;

/// The part of `file` that starts at `offset`, or nothing when any of it lies outside.
std::optional<Bytes> part(Bytes file, uint64_t offset, uint64_t bytes) {
  if (offset > file.size() || bytes > file.size() - offset) return std::nullopt;
  return file.subspan(offset, bytes);
}

/// Record `index` of a table, copied because nothing promises that it is aligned.
/// REQUIRES: the record lies inside the table.
template <typename T>
T record(Bytes table, uint64_t index) {
  T value = {};
  std::memcpy(&value, table.data() + index * sizeof(T), sizeof(T));
  return value;
}

Failure broken(const std::string& path, std::string_view what) {
  return fail(ErrorCode::kDevice,
              "\"{}\" is not a usable library: {}. ./dev setup fetches a new one.", path, what);
}

}  // namespace

ElfFile::ElfFile(ElfFile&& other) noexcept
    : file_(other.file_), symbols_(other.symbols_), strings_(other.strings_) {
  other.file_ = {};
}

ElfFile::~ElfFile() {
  if (!file_.empty()) ::munmap(const_cast<std::byte*>(file_.data()), file_.size());
}

Result<ElfFile> ElfFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return fail(ErrorCode::kDevice, "\"{}\" cannot be opened: {}. ./dev setup fetches Dawn.", path,
                std::strerror(errno));
  }
  struct stat status = {};
  ElfFile elf;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const size_t bytes = static_cast<size_t>(status.st_size);
    void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped != MAP_FAILED) elf.file_ = {static_cast<const std::byte*>(mapped), bytes};
  }
  ::close(descriptor);
  TOK_TRY(elf.read_tables(path));
  return elf;
}

Result<void> ElfFile::read_tables(const std::string& path) {
  if (file_.size() < sizeof(Elf64_Ehdr) || std::memcmp(file_.data(), ELFMAG, SELFMAG) != 0) {
    return broken(path, "it does not start as an ELF file");
  }
  const auto header = record<Elf64_Ehdr>(file_, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return broken(path, "it is not for a 64-bit little-endian machine");
  }
  const auto segments = part(file_, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  const auto sections = part(file_, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  if (!segments || !sections) return broken(path, "it ends before its tables");
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = record<Elf64_Phdr>(*segments, i);
    if (!part(file_, segment.p_offset, segment.p_filesz)) {
      return broken(path, "it ends before its segments");
    }
  }
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = record<Elf64_Shdr>(*sections, i);
    if (section.sh_type != SHT_SYMTAB) continue;
    if (section.sh_link >= header.e_shnum) return broken(path, "its symbols have no names");
    const auto names = record<Elf64_Shdr>(*sections, section.sh_link);
    const auto symbols = part(file_, section.sh_offset, section.sh_size);
    const auto strings = part(file_, names.sh_offset, names.sh_size);
    if (!symbols || !strings) return broken(path, "it ends before its symbols");
    symbols_ = *symbols;
    strings_ = *strings;
  }
  return {};
}

std::optional<ElfSymbol> ElfFile::find(std::string_view name) const {
  for (uint64_t i = 0; i < symbols_.size() / sizeof(Elf64_Sym); ++i) {
    const auto symbol = record<Elf64_Sym>(symbols_, i);
    if (symbol.st_value == 0) continue;
    const auto found = part(strings_, symbol.st_name, name.size() + 1);
    if (found && std::memcmp(found->data(), name.data(), name.size()) == 0 &&
        found->back() == std::byte{0}) {
      return ElfSymbol{symbol.st_value, symbol.st_size};
    }
  }
  return std::nullopt;
}

}  // namespace tokamak
