#include "backend/webgpu/dawn/quiet.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

namespace tokamak {
namespace {

/// Lowered limits; and how Vulkan starts without a driver, which is answered by an error of ours.
constexpr std::string_view kRemarks[] = {
    "artificially reduced from", "vkCreateInstance: Found no drivers!",
    "vkCreateInstance failed with VK_ERROR_INCOMPATIBLE_DRIVER"};

bool is_remark(std::string_view line) {
  return std::any_of(std::begin(kRemarks), std::end(kRemarks),
                     [&](std::string_view remark) { return line.contains(remark); });
}

/// The place in Dawn that a warning comes from, and the empty line after that.
bool is_continuation(std::string_view line) {
  return line.starts_with("    at ") || line == "\n";
}

/// The state of the stream; its lock guards this, too.
struct Filter {
  bool dropping = false, at_line_start = true;
};

ssize_t write_filtered(void* cookie, const char* data, size_t size) {
  Filter& filter = *static_cast<Filter*>(cookie);
  for (std::string_view rest(data, size); !rest.empty();) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    if (filter.at_line_start) {
      filter.dropping = is_remark(line) || (filter.dropping && is_continuation(line));
    }
    filter.at_line_start = line.ends_with('\n');
    if (!filter.dropping) std::fwrite(line.data(), 1, line.size(), stderr);
  }
  return ssize_t(size);
}

/// The tables of a loaded library that say where it refers to which symbol.
struct References {
  const char* names = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  std::span<const ElfW(Rela)> relocations;
};

References references_of(const link_map& library) {
  References found;
  const ElfW(Rela)* relocations = nullptr;
  size_t bytes = 0;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    // The system's loader has turned these into addresses.
    if (entry->d_tag == DT_STRTAB) found.names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) {
      found.symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    }
    if (entry->d_tag == DT_RELA) {
      relocations = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
    }
    if (entry->d_tag == DT_RELASZ) bytes = size_t(entry->d_un.d_val);
  }
  if (found.names != nullptr && found.symbols != nullptr && relocations != nullptr) {
    found.relocations = {relocations, bytes / sizeof(ElfW(Rela))};
  }
  return found;
}

/// Whether the loader has made that address of the library read-only.
struct ReadOnly {
  uintptr_t base, address;
  bool is_so = false;

  static int look(dl_phdr_info* info, size_t, void* out) {
    auto& own = *static_cast<ReadOnly*>(out);
    if (info->dlpi_addr != own.base) return 0;
    for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
      const uintptr_t start = own.base + segment.p_vaddr;
      if (segment.p_type != PT_GNU_RELRO || own.address < start) continue;
      own.is_so = own.is_so || own.address - start < segment.p_memsz;
    }
    return 1;
  }
};

void write_pointer(const link_map& library, void** slot, void* value) {
  ReadOnly read_only{.base = library.l_addr, .address = reinterpret_cast<uintptr_t>(slot)};
  dl_iterate_phdr(ReadOnly::look, &read_only);
  const uintptr_t page_bytes = uintptr_t(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(read_only.address & ~(page_bytes - 1));
  if (read_only.is_so && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  *slot = value;
  if (read_only.is_so) mprotect(page, page_bytes, PROT_READ);
}

}  // namespace

std::FILE* stderr_without_remarks() {
  static Filter filter;
  static std::FILE* const stream = [] {
    std::FILE* made =
        fopencookie(&filter, "w",
                    {.read = nullptr, .write = write_filtered, .seek = nullptr, .close = nullptr});
    if (made == nullptr) return stderr;
    std::setvbuf(made, nullptr, _IOLBF, BUFSIZ);
    return made;
  }();
  return stream;
}

void redirect_stderr(const link_map& library, std::FILE* stream) {
  static std::FILE* own = nullptr;
  own = stream;
  // The program's copy of the variable is another one where this library was opened to prefer its
  // own libraries, as Node's addon is.
  void* program = dlopen(nullptr, RTLD_LAZY);
  const void* of_program = program == nullptr ? nullptr : dlsym(program, "stderr");
  const References references = references_of(library);
  for (const ElfW(Rela) & relocation : references.relocations) {
    const size_t symbol = size_t(ELF64_R_SYM(relocation.r_info));
    if (symbol == 0) continue;
    const char* name = references.names + references.symbols[symbol].st_name;
    if (std::strcmp(name, "stderr") != 0) continue;
    // A pointer to the variable: nothing else is replaced.
    auto* slot = reinterpret_cast<void**>(library.l_addr + relocation.r_offset);
    if (*slot == &stderr || *slot == of_program) write_pointer(library, slot, &own);
  }
}

}  // namespace tokamak
