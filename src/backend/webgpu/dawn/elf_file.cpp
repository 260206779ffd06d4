#include "backend/webgpu/dawn/elf_file.h"

#include <elf.h>

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

Result<ElfFile> ElfFile::open(const std::string& path) {
  const auto file = File::open(path, FileMode::kRead);
  if (!file) {
    return fail(ErrorCode::kDevice, "\"{}\" cannot be opened: {}. ./dev setup fetches Dawn.", path,
                file.error().message);
  }
  ElfFile elf;
  const auto state = file->state();
  if (state && state->kind == FileKind::kFile) {
    if (auto mapped = MappedFile::map(*file, state->bytes)) elf.file_ = *std::move(mapped);
  }
  TOK_TRY(elf.read_tables(path));
  return elf;
}

Result<void> ElfFile::read_tables(const std::string& path) {
  const Bytes file = file_.bytes();
  if (file.size() < sizeof(Elf64_Ehdr) || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
    return broken(path, "it does not start as an ELF file");
  }
  const auto header = record<Elf64_Ehdr>(file, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return broken(path, "it is not for a 64-bit little-endian machine");
  }
  const auto segments = part(file, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  const auto sections = part(file, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  if (!segments || !sections) return broken(path, "it ends before its tables");
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = record<Elf64_Phdr>(*segments, i);
    if (!part(file, segment.p_offset, segment.p_filesz)) {
      return broken(path, "it ends before its segments");
    }
  }
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = record<Elf64_Shdr>(*sections, i);
    if (section.sh_type != SHT_SYMTAB) continue;
    if (section.sh_link >= header.e_shnum) return broken(path, "its symbols have no names");
    const auto names = record<Elf64_Shdr>(*sections, section.sh_link);
    const auto symbols = part(file, section.sh_offset, section.sh_size);
    const auto strings = part(file, names.sh_offset, names.sh_size);
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
