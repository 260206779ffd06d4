// Tools, and which of them may be called, in the shapes of every protocol: programs made for one
// send its tools to another as well.
//
// A function is shown to the model whatever it is wrapped in. One with a text in place of arguments
// ("custom") is a function of one text; one of a namespace has both names in one. Those that the
// service itself would run, such as a search of the web, are passed over: nothing here runs them,
// and a request that only offers one can be answered without.
#include "protocol/chat/tools_reader.h"

#include <algorithm>

#include "protocol/chat/content_parts.h"
#include "protocol/chat/schemas.h"

namespace tokamak::protocol {
namespace {

constexpr std::string_view kField = "tools";
constexpr size_t kMaxName = 128;
constexpr std::string_view kTextArgument = "input";

/// Tools of Anthropic's whose form is part of the model's training there, and which the client
/// runs. The type goes on with a date.
struct KnownTool {
  std::string_view type, description, parameters;
};
constexpr KnownTool kKnown[] = {{"bash_", "Runs a command in a shell that stays open.",
                                 R"({"type": "object", "properties": {"command": {"type": "string"},
         "restart": {"type": "boolean", "description": "Starts the shell anew."}}})"},
                                {"text_editor_", "Views, creates and edits text files.",
                                 R"({"type": "object", "properties": {
         "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert"]},
         "path": {"type": "string"}, "file_text": {"type": "string"},
         "old_str": {"type": "string"}, "new_str": {"type": "string"},
         "insert_line": {"type": "integer"}, "insert_text": {"type": "string"},
         "view_range": {"type": "array", "items": {"type": "integer"}}},
         "required": ["command", "path"]})"}};

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

class ToolsReader {
 public:
  ToolsReader(Fields& fields, Endpoint endpoint)
      : fields_(fields), is_anthropic_(endpoint == kMessages || endpoint == kCountTokens) {}

  Answer<void> read() {
    for (size_t i = 0; i < fields_.tools.as_array().size(); ++i) {
      TOK_TRY(add(fields_.tools.as_array()[i], fmt::format("tools[{}]", i)));
    }
    fields_.tools = std::move(tools_);
    return {};
  }

 private:
  Answer<void> add(const Json& tool, const std::string& where) {
    const std::string type = type_of(tool);
    const Json* function = tool.find("function");
    const bool is_function = type.empty() || type == "function";
    if (is_function && function != nullptr && function->is_object()) {
      return add_function(*function, "parameters", where + ".function", true);
    }
    if (is_function && text_in(tool, "name") != nullptr && !is_anthropic_) {
      const bool has_schema = tool.find("input_schema") != nullptr;
      return add_function(tool, has_schema ? "input_schema" : "parameters", where);
    }
    if (is_anthropic_ && (is_function || type == "custom") && tool.is_object()) {
      return add_function(tool, "input_schema", where);
    }
    if (type == "custom") {
      const Json* custom = tool.find("custom");
      return add_custom(custom == nullptr ? tool : *custom, where);
    }
    if (type == "namespace") return add_namespace(tool, where);
    if (is_function) {
      return wrong(kField, "{} is {}, expected {{\"type\": \"function\", \"function\": ...}}.",
                   where, quoted(tool));
    }
    for (const KnownTool& known : kKnown) {
      if (type.starts_with(known.type)) return add_known(known, tool, where);
    }
    return {};  // one that the service would run, or a form of later days
  }

  /// A function, whatever it is wrapped in; of members that only OpenAI's chats have those that
  /// templates may read.
  Answer<void> add_function(const Json& function, std::string_view schema, const std::string& where,
                            bool is_chat = false) {
    Json made(Json::Object{});
    for (const auto& [name, value] : function.as_object()) {
      if (name == schema) {
        if (value.is_null()) continue;
        TOK_TRY(Json read, parameters_schema(value, where + "." + std::string(schema)));
        made.set("parameters", std::move(read));
      } else if (is_chat || name == "name" || name == "description" || name == "strict") {
        made.set(name, value);
      }
    }
    if (is_anthropic_ && made.find("parameters") == nullptr) {
      return wrong(kField, "{}.input_schema is missing, expected a JSON Schema.", where);
    }
    return add_made(std::move(made), where);
  }

  Answer<void> add_custom(const Json& custom, const std::string& where) {
    const std::string* name = text_in(custom, "name");
    const std::string* description = text_in(custom, "description");
    std::string about = description == nullptr ? "" : *description;
    // The form of the text stands in a grammar, which the model can read as well.
    if (const Json* format = custom.find("format")) {
      const Json* grammar = format->find("grammar");
      const std::string* definition =
          text_in(grammar == nullptr ? *format : *grammar, "definition");
      if (definition != nullptr) {
        add_line(about, "The input is a text of this grammar:\n" + *definition);
      }
    }
    Json text(Json::Object{{"type", "string"}});
    Json parameters(
        Json::Object{{"type", "object"},
                     {"properties", Json(Json::Object{{std::string(kTextArgument), text}})},
                     {"required", Json::Array{kTextArgument}},
                     {"additionalProperties", false}});
    if (name != nullptr) fields_.call_shapes.set(*name, Json(Json::Object{{"type", "custom"}}));
    return add_made(Json(Json::Object{{"name", name == nullptr ? "" : *name},
                                      {"description", about},
                                      {"parameters", std::move(parameters)}}),
                    where);
  }

  Answer<void> add_namespace(const Json& tool, const std::string& where) {
    const std::string* outer = text_in(tool, "name");
    const Json* inner = tool.find("tools");
    if (outer == nullptr || inner == nullptr || !inner->is_array()) {
      return wrong(kField, "{} is {}, expected a name and a list of tools.", where, quoted(tool));
    }
    for (size_t i = 0; i < inner->as_array().size(); ++i) {
      Json one = inner->as_array()[i];
      const std::string* name = text_in(one, "name");
      if (name == nullptr) {
        return wrong(kField, "{}.tools[{}].name is missing or no text.", where, i);
      }
      const std::string own = *name, whole = name_in_namespace(*outer, own);
      *one.find("name") = whole;
      TOK_TRY(add(one, fmt::format("{}.tools[{}]", where, i)));
      const Json* shape = fields_.call_shapes.find(whole);
      Json made = shape == nullptr ? Json(Json::Object{}) : *shape;
      fields_.call_shapes.set(whole, made.set("namespace", *outer).set("name", own));
    }
    return {};
  }

  Answer<void> add_known(const KnownTool& known, const Json& tool, const std::string& where) {
    const std::string* name = text_in(tool, "name");
    return add_made(Json(Json::Object{{"name", name == nullptr ? "" : *name},
                                      {"description", known.description},
                                      {"parameters", *Json::parse(known.parameters)}}),
                    where);
  }

  Answer<void> add_made(Json function, const std::string& where) {
    const std::string* name = text_in(function, "name");
    if (name == nullptr || !is_tool_name(*name)) {
      return wrong(kField, "{}.name is missing or not 1 to {} letters, digits, '_', '.' and '-'.",
                   where, kMaxName);
    }
    tools_.push_back(Json(Json::Object{{"type", "function"}, {"function", std::move(function)}}));
    return {};
  }

  Fields& fields_;
  const bool is_anthropic_;
  Json::Array tools_;
};

Json function_choice(std::string_view name) {
  Json function(Json::Object{{"name", name}});
  return Json(Json::Object{{"type", "function"}, {"function", std::move(function)}});
}

/// The name of the function that {"type", "name", "namespace"}, or that within `type`, stands for.
std::optional<std::string> chosen_name(const Json& choice) {
  const Json* inner = choice.find(type_of(choice));
  const std::string* name = text_in(inner == nullptr ? choice : *inner, "name");
  if (name == nullptr) return std::nullopt;
  const std::string* outer = text_in(choice, "namespace");
  return outer == nullptr ? *name : name_in_namespace(*outer, *name);
}

/// Leaves only those tools that may be called: {"mode", "tools": [...]}.
Answer<void> read_allowed(const Json& allowed, Fields& fields) {
  const Json* list = allowed.find("tools");
  const std::string* mode = text_in(allowed, "mode");
  if (list == nullptr || !list->is_array()) {
    return wrong("tool_choice", "tool_choice is {}, expected a mode and a list of tools.",
                 quoted(allowed));
  }
  std::vector<std::string> names;
  for (const Json& one : list->as_array()) {
    if (auto name = chosen_name(one)) names.push_back(*std::move(name));
  }
  if (fields.tools.is_array()) {
    std::erase_if(fields.tools.as_array(), [&](const Json& tool) {
      return std::ranges::find(names, *text_in(*tool.find("function"), "name")) == names.end();
    });
  }
  fields.tool_choice = mode == nullptr ? "auto" : *mode;
  return {};
}

Answer<void> read_choice(Fields& fields) {
  if (is_empty_object(fields.tool_choice)) fields.tool_choice = Json();
  if (fields.tool_choice == Json("any")) fields.tool_choice = "required";
  if (!fields.tool_choice.is_object()) return {};
  const Json choice = fields.tool_choice;
  const std::string type = type_of(choice);
  const Json* one_only = choice.find("disable_parallel_tool_use");
  if (one_only != nullptr && one_only->is_bool()) fields.parallel_tool_calls = !one_only->as_bool();
  if (type == "allowed_tools") {
    const Json* inner = choice.find("allowed_tools");
    return read_allowed(inner == nullptr ? choice : *inner, fields);
  }
  if (type == "auto" || type == "none" || type == "required") {
    fields.tool_choice = type;
  } else if (type == "any") {
    fields.tool_choice = "required";
  } else if (type == "function" || type == "tool" || type == "custom") {
    const auto name = chosen_name(choice);
    if (!name) return wrong("tool_choice", "tool_choice.name is missing or no text.");
    fields.tool_choice = function_choice(*name);
  } else {
    return wrong("tool_choice", "tool_choice is {}, but this server runs no tools itself, {}.",
                 quoted(choice), "and the model calls functions only");
  }
  return {};
}

}  // namespace

std::string name_in_namespace(std::string_view outer, std::string_view inner) {
  return fmt::format("{}{}{}", outer, outer.ends_with("__") ? "" : "__", inner);
}

Answer<void> read_tools(Fields& fields, Endpoint endpoint) {
  if (fields.tools.is_array()) TOK_TRY(ToolsReader(fields, endpoint).read());
  return read_choice(fields);
}

}  // namespace tokamak::protocol
