// What --help prints.
#include <algorithm>

#include "apps/cli/options.h"
#include "base/wrap.h"

namespace tokamak::cli {

namespace {

constexpr size_t kColumn = 30;

/// `text` in lines of at most kScreenColumns, each but the first after `indent` blanks.
std::string indented(std::string_view text, size_t indent) {
  return fmt::format(
      "{}", fmt::join(wrapped(text, kScreenColumns - indent), "\n" + std::string(indent, ' ')));
}

/// Two columns; a first one that is too wide has a line of its own.
std::string row(const std::string& left, std::string_view right) {
  std::string out = "  " + left;
  if (out.size() + 2 > kColumn) {
    out += "\n" + std::string(kColumn, ' ');
  } else {
    out += std::string(kColumn - out.size(), ' ');
  }
  return out + indented(right, kColumn) + "\n";
}

}  // namespace

class HelpText {
 public:
  static std::string of(const App& app, bool developer) {
    const std::string is = app.parent_ == nullptr ? "" : app.full_name() + ": ";
    std::string out = indented(is + app.description_, 0) + "\n\n" + usage(app) + "\n";
    out += app.commands_.empty() ? options(app, developer) : commands(app);
    out += "\n" + app.footer_ + "\n";
    if (!developer && std::ranges::any_of(app.options_, is_for_developers)) {
      out += fmt::format("\n`{} --help-all` shows the options for developers, too.\n",
                         app.full_name());
    }
    return out;
  }

 private:
  static bool is_for_developers(const std::unique_ptr<Option>& option) {
    return option->group_ == kDeveloperOptions;
  }

  static std::string usage(const App& app) {
    std::string out = "Usage: " + app.full_name();
    if (!app.commands_.empty()) out += " COMMAND";
    for (const auto& option : app.options_) {
      if (option->positional_.empty()) continue;
      const bool required =
          option->required_ || std::ranges::find(app.one_of_, option.get()) != app.one_of_.end();
      const std::string name = option->positional_ + (option->repeatable_ ? "..." : "");
      out += required ? " " + name : " [" + name + "]";
    }
    return out + " [OPTIONS]\n";
  }

  static std::string commands(const App& app) {
    std::vector<std::string> groups;
    for (const auto& command : app.commands_) {
      if (std::ranges::find(groups, command->group_) == groups.end()) {
        groups.push_back(command->group_);
      }
    }
    std::string out;
    for (const std::string& group : groups) {
      out += (out.empty() ? "" : "\n") + (group.empty() ? "Commands" : group) + ":\n";
      for (const auto& command : app.commands_) {
        if (command->group_ != group) continue;
        out += fmt::format("  {:<10} {}\n", command->name_, command->description_);
      }
    }
    return out;
  }

  static std::string left(const Option& option) {
    std::string out = option.positional_;
    for (const std::string& name : option.names_) out += (out.empty() ? "" : ", ") + name;
    if (!option.is_flag_ && option.positional_.empty()) out += " " + option.type_;
    return out;
  }

  static std::string right(const Option& option) {
    std::string out = option.description_;
    if (!option.default_.empty()) out += fmt::format(" [default: {}]", option.default_);
    return out;
  }

  static std::string options(const App& app, bool developer) {
    std::vector<std::string> groups;
    for (const auto& option : app.options_) {
      if (!developer && is_for_developers(option)) continue;
      if (std::ranges::find(groups, option->group_) == groups.end()) {
        groups.push_back(option->group_);
      }
    }
    // What the command is about comes first, what only developers need last.
    std::ranges::stable_sort(groups, {}, [](const std::string& group) {
      return group == "Options" ? 0 : group == kDeveloperOptions ? 2 : 1;
    });
    std::string out;
    for (const std::string& group : groups) {
      out += (out.empty() ? "" : "\n") + group + ":\n";
      for (const auto& option : app.options_) {
        if (option->group_ == group) out += row(left(*option), right(*option));
      }
    }
    return out;
  }
};

std::string App::help(bool developer) const {
  return HelpText::of(*this, developer);
}

}  // namespace tokamak::cli
