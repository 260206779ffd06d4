// The turns that a chat template takes: templates refuse conversations that protocols allow, or
// drop a part of them without a word. Small conversations show what a template does.
#pragma once
#include "base/json.h"

namespace tokamak {
struct ModelFiles;
}

namespace tokamak::protocol {

struct TurnRules {
  bool has_system = true;           // shows a message of the system that is the first
  bool has_late_system = true;      // and one that is not
  bool has_repeats = true;          // takes two turns of the user after each other
  bool has_user_after_tool = true;  // and one after the result of a tool
  bool has_tool_images = false;     // shows images in the result of a tool
  bool calls_it_thinking = false;   // reads `thinking` of a message, not `reasoning_content`
};

TurnRules find_turn_rules(const ModelFiles& files, std::string_view chat_template);

/// Makes the conversation one that the template takes, with all that it says: messages of the
/// system at its beginning become one, and where the template has no place for later ones, they as
/// well; without a place for any they are in front of what the user says first. Turns that may not
/// follow each other become one, and images of results follow them. `messages` as read_chat() has
/// left them, with images as templates read them.
void fit_turns(Json::Array& messages, const TurnRules& rules);

/// Both contents after each other: parts where one has some, else a text with `between`.
Json joined_contents(Json first, const Json& second, std::string_view between);

}  // namespace tokamak::protocol
