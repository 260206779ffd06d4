// Which of several models a request is for, and for how long it should stay, found without the cost
// of reading the whole body.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/requests/routes.h"

namespace tokamak::protocol {

/// The names of a model in requests. The first is its id, by which answers call it.
using ModelNames = std::vector<std::string>;

/// A name may end in ":latest", as Ollama's clients write it.
bool is_name_of(std::string_view asked, const ModelNames& names);

/// 404, with the names that there are.
ApiError unknown_model(std::string_view asked, std::span<const ModelNames> models);

struct RequestedModel {
  const Route* route = nullptr;
  /// Index of the model; unset: the request names none.
  std::optional<size_t> model;
  std::optional<double> keep_seconds;  // after the answer; infinity: for ever
};

/// The model by the path, the member `model` of a body in JSON or the part `model` of a form. A
/// body that is not what it should be names none: the reader of the whole reports what is wrong.
/// Errors: 404 for a path or a model that there is not, 405, a wrong `keep_alive`.
Answer<RequestedModel> requested_model(const HttpRequest& request,
                                       std::span<const ModelNames> models);

/// Ollama's: seconds, or a duration as "1h30m"; below 0 for ever. Null is nothing.
Answer<std::optional<double>> read_keep_alive(const Json& value);

/// The text of a member of an object, the last one of that name; "" where there is none. Members of
/// members are passed over by their brackets and quotes alone.
std::string_view member_text(std::string_view object, std::string_view name);

}  // namespace tokamak::protocol
