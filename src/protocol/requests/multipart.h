// Bodies of forms with files (RFC 7578): multipart/form-data.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

struct FormPart {
  std::string name;
  std::string_view content;  // bytes of the body
};

/// The parts in their order. `content_type`: of the request, which has the boundary.
/// Errors: 415 for another type, 400 for a body that is not what it says.
Answer<std::vector<FormPart>> read_form(std::string_view content_type, std::string_view body);

/// The first part of that name; null where there is none.
const FormPart* find_part(const std::vector<FormPart>& parts, std::string_view name);

}  // namespace tokamak::protocol
