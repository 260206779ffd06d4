#include "apps/web/host.h"

#include <cstdint>

#define HOST_IMPORT(name) extern "C" __attribute__((import_module("host"), import_name(#name)))

HOST_IMPORT(event)
void host_event(const char* kind, uint32_t kind_bytes, const char* json, uint32_t json_bytes);
HOST_IMPORT(play) void host_play(uint32_t id, const float* samples, uint32_t count);
HOST_IMPORT(cancelled) int host_cancelled();
/// Copies at most `capacity` bytes; how many there are, -1: there is no such note.
HOST_IMPORT(note_read)
int host_note_read(const char* name, uint32_t name_bytes, char* out, uint32_t capacity);
HOST_IMPORT(note_write)
void host_note_write(const char* name, uint32_t name_bytes, const char* text, uint32_t text_bytes);

#undef HOST_IMPORT

namespace tokamak::web {

void tell(std::string_view kind, const Json& what) {
  const std::string text = what.dump();
  host_event(kind.data(), uint32_t(kind.size()), text.data(), uint32_t(text.size()));
}

void notice(std::string_view text) {
  Json what;
  what.set("text", text);
  tell("notice", what);
}

void play(uint32_t id, std::span<const float> samples) {
  host_play(id, samples.data(), uint32_t(samples.size()));
}

bool cancelled() {
  return host_cancelled() != 0;
}

std::optional<std::string> read_note(std::string_view name) {
  const int bytes = host_note_read(name.data(), uint32_t(name.size()), nullptr, 0);
  if (bytes < 0) return std::nullopt;
  std::string text(size_t(bytes), '\0');
  host_note_read(name.data(), uint32_t(name.size()), text.data(), uint32_t(bytes));
  return text;
}

void write_note(std::string_view name, std::string_view text) {
  host_note_write(name.data(), uint32_t(name.size()), text.data(), uint32_t(text.size()));
}

}  // namespace tokamak::web
