#include "values.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "addon.h"

namespace tokamak::node {
namespace {

/// The codes of the package, which are those of tokamak-web.
std::string_view code_name(tokamak_error_code code) {
  constexpr std::string_view kNames[] = {"usage",       "invalid-input", "unsupported", "device",
                                         "device-lost", "out-of-memory", "cancelled"};
  const auto index = static_cast<size_t>(code);
  return index < std::size(kNames) ? kNames[index] : "internal";
}

napi_value typed_array(napi_env env, napi_typedarray_type type, size_t count,
                       std::span<const std::byte> bytes) {
  void* memory = nullptr;
  napi_value buffer = nullptr;
  napi_value array = nullptr;
  if (napi_create_arraybuffer(env, bytes.size(), &memory, &buffer) != napi_ok) return nullptr;
  if (!bytes.empty()) std::memcpy(memory, bytes.data(), bytes.size());
  napi_create_typedarray(env, type, count, buffer, 0, &array);
  return array;
}

}  // namespace

std::unexpected<Failure> ErrorSlot::failure() const {
  if (error_ == nullptr) return std::unexpected(Failure{TOKAMAK_OUT_OF_MEMORY, "Memory is full."});
  return std::unexpected(Failure{tokamak_error_get_code(error_), tokamak_error_message(error_)});
}

Kept::Kept(std::shared_ptr<Addon> addon, napi_env env, napi_value value) {
  napi_ref made = nullptr;
  if (napi_create_reference(env, value, 1, &made) != napi_ok) return;
  reference_ = std::shared_ptr<napi_ref>(new napi_ref(made), [addon](napi_ref* reference) {
    // A reference is deleted by the JavaScript thread; with its environment it goes by itself.
    addon->post([own = *reference](napi_env later) { napi_delete_reference(later, own); });
    delete reference;
  });
}

napi_value Kept::value(napi_env env) const {
  napi_value value = nullptr;
  napi_get_reference_value(env, *reference_, &value);
  return value;
}

void Kept::call(napi_env env, std::span<const napi_value> arguments) const {
  if (reference_ == nullptr) return;
  const napi_status status = napi_call_function(env, undefined_value(env), value(env),
                                                arguments.size(), arguments.data(), nullptr);
  if (status != napi_pending_exception) return;
  napi_value thrown = nullptr;
  if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok) napi_fatal_exception(env, thrown);
}

napi_value text_value(napi_env env, std::string_view text) {
  napi_value value = nullptr;
  napi_create_string_utf8(env, text.data(), text.size(), &value);
  return value;
}

napi_value number_value(napi_env env, double number) {
  napi_value value = nullptr;
  napi_create_double(env, number, &value);
  return value;
}

napi_value undefined_value(napi_env env) {
  napi_value value = nullptr;
  napi_get_undefined(env, &value);
  return value;
}

napi_value floats_value(napi_env env, std::span<const float> numbers) {
  return typed_array(env, napi_float32_array, numbers.size(), std::as_bytes(numbers));
}

napi_value ids_value(napi_env env, std::span<const uint32_t> ids) {
  return typed_array(env, napi_uint32_array, ids.size(), std::as_bytes(ids));
}

napi_value bytes_value(napi_env env, std::span<const std::byte> bytes) {
  return typed_array(env, napi_uint8_array, bytes.size(), bytes);
}

napi_value array_value(napi_env env, std::span<const napi_value> members) {
  napi_value array = nullptr;
  napi_create_array_with_length(env, members.size(), &array);
  for (uint32_t i = 0; i < members.size(); ++i) napi_set_element(env, array, i, members[i]);
  return array;
}

napi_value handle_value(napi_env env, std::shared_ptr<Handle> handle) {
  using Shared = std::shared_ptr<Handle>;
  auto own = std::make_unique<Shared>(std::move(handle));
  const auto drop = [](napi_env, void* shared, void*) { delete static_cast<Shared*>(shared); };
  napi_value value = nullptr;
  if (napi_create_external(env, own.get(), drop, nullptr, &value) == napi_ok) (void)own.release();
  return value;
}

napi_value error_value(napi_env env, const Failure& failure) {
  const Kept& constructor = Addon::of(env)->error_class();
  const napi_value arguments[] = {text_value(env, code_name(failure.code)),
                                  text_value(env, failure.message)};
  napi_value error = nullptr;
  if (!constructor || napi_new_instance(env, constructor.value(env), std::size(arguments),
                                        arguments, &error) != napi_ok) {
    napi_create_error(env, arguments[0], arguments[1], &error);
  }
  return error;
}

void set_member(napi_env env, napi_value object, const char* name, napi_value value) {
  napi_set_named_property(env, object, name, value);
}

napi_value throw_failure(napi_env env, const Failure& failure) {
  napi_throw(env, error_value(env, failure));
  return nullptr;
}

Arguments::Arguments(napi_env env, napi_callback_info info) : env_(env) {
  size_t count = kMaxArguments;
  napi_get_cb_info(env, info, &count, values_, nullptr, nullptr);
}

void Arguments::refuse(Failure failure) {
  if (!has_failed()) failure_ = std::move(failure);
}

napi_value Arguments::raise() const {
  return throw_failure(env_, failure_);
}

std::string Arguments::text_of(napi_value value, const char* name) {
  size_t bytes = 0;
  if (napi_get_value_string_utf8(env_, value, nullptr, 0, &bytes) != napi_ok) {
    refuse({TOKAMAK_USAGE, std::string(name) + " is no text."});
    return {};
  }
  std::string text(bytes, '\0');
  napi_get_value_string_utf8(env_, value, text.data(), bytes + 1, &bytes);
  // Texts of the C interface end with a zero.
  if (const size_t zero = text.find('\0'); zero != std::string::npos) {
    refuse({TOKAMAK_INVALID_INPUT, std::string(name) + " has a zero character at byte " +
                                       std::to_string(zero) +
                                       ", which no text may have; leave it out."});
  }
  return text;
}

std::string Arguments::text(size_t index, const char* name) {
  return text_of(values_[index], name);
}

size_t Arguments::length(size_t index) const {
  uint32_t length = 0;
  napi_get_array_length(env_, values_[index], &length);
  return length;
}

napi_value Arguments::member(size_t index, uint32_t member) const {
  napi_value value = nullptr;
  napi_get_element(env_, values_[index], member, &value);
  return value;
}

std::vector<std::string> Arguments::texts(size_t index, const char* name) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < length(index); ++i) texts.push_back(text_of(member(index, i), name));
  return texts;
}

std::vector<std::string> Arguments::options(size_t index) {
  std::vector<std::string> pairs;
  for (uint32_t i = 0; i < length(index); ++i) {
    const std::string name = i % 2 == 0 ? "option" : pairs.back();
    pairs.push_back(text_of(member(index, i), name.c_str()));
  }
  return pairs;
}

bool Arguments::boolean(size_t index) {
  bool value = false;
  napi_get_value_bool(env_, values_[index], &value);
  return value;
}

Kept Arguments::function(size_t index) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env_, values_[index], &type);
  return type == napi_function ? kept(index) : Kept();
}

Kept Arguments::kept(size_t index) {
  return Kept(Addon::of(env_), env_, values_[index]);
}

std::span<const std::byte> Arguments::memory(size_t index, const char* name,
                                             napi_typedarray_type type) {
  napi_valuetype kind = napi_undefined;
  napi_typeof(env_, values_[index], &kind);
  if (kind == napi_undefined) return {};
  napi_typedarray_type found = napi_int8_array;
  size_t count = 0;
  void* first = nullptr;
  const napi_status status =
      napi_get_typedarray_info(env_, values_[index], &found, &count, &first, nullptr, nullptr);
  if (status != napi_ok || found != type) {
    refuse({TOKAMAK_USAGE, std::string(name) + " is no array of the type that was expected."});
    return {};
  }
  const size_t width = type == napi_uint8_array ? 1 : 4;
  return {static_cast<const std::byte*>(first), count * width};
}

std::span<const float> Arguments::floats(size_t index, const char* name) {
  const auto bytes = memory(index, name, napi_float32_array);
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

std::span<const uint32_t> Arguments::ids(size_t index, const char* name) {
  const auto bytes = memory(index, name, napi_uint32_array);
  return {reinterpret_cast<const uint32_t*>(bytes.data()), bytes.size() / sizeof(uint32_t)};
}

std::span<const std::byte> Arguments::bytes(size_t index, const char* name) {
  return memory(index, name, napi_uint8_array);
}

bool Arguments::is_floats(size_t index) const {
  napi_typedarray_type found = napi_int8_array;
  const napi_status status =
      napi_get_typedarray_info(env_, values_[index], &found, nullptr, nullptr, nullptr, nullptr);
  return status == napi_ok && found == napi_float32_array;
}

std::shared_ptr<Handle> Arguments::any_handle(size_t index) const {
  void* found = nullptr;
  if (napi_get_value_external(env_, values_[index], &found) != napi_ok) return nullptr;
  return *static_cast<std::shared_ptr<Handle>*>(found);
}

}  // namespace tokamak::node
