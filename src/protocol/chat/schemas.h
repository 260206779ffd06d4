// The JSON Schemas of tools' parameters, before anything is made of them.
#pragma once
#include "protocol/requests/api_error.h"

namespace tokamak::protocol {

/// Whether it is {} or what PHP writes for it, [].
bool is_empty_object(const Json& value);

/// The schema with objects where PHP has written [] for an empty one ("properties": []); without
/// any member that of an empty object. Errors: no schema of an object in any draft of JSON Schema;
/// one that a grammar cannot hold to is no error. `where` names it, "tools" is the field.
Answer<Json> parameters_schema(const Json& given, const std::string& where);

/// The schema with the same objects where PHP has written [], for one of any values; one that is
/// wrong stays as it is, for whoever makes something of it to refuse.
Json filled_schema(const Json& given);

}  // namespace tokamak::protocol
