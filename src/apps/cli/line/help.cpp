// The text of --help.
#include <algorithm>

#include "apps/cli/line/options.h"
#include "base/wrap.h"

namespace tokamak::cli {

namespace {

constexpr size_t kColumn = 30;
constexpr size_t kMinColumns = 20;  // of a description

/// `text` in lines of at most `columns`, each but the first after `indent` blanks.
std::string indented(std::string_view text, size_t indent, size_t columns) {
  const size_t room = std::max(columns, indent + kMinColumns) - indent;
  return fmt::format("{}", fmt::join(wrapped(text, room), "\n" + std::string(indent, ' ')));
}

/// Two columns; a first one that is too wide has a line of its own.
std::string row(const std::string& left, std::string_view right, size_t columns) {
  std::string out = "  " + left;
  if (out.size() + 2 > kColumn) {
    out += "\n" + std::string(kColumn, ' ');
  } else {
    out += std::string(kColumn - out.size(), ' ');
  }
  return out + indented(right, kColumn, columns) + "\n";
}

/// A command to be copied stays whole; what it does follows on a line of its own where both are too
/// wide.
std::string example(std::string_view line, size_t columns) {
  const size_t gap = line.find("   ", line.find_first_not_of(' '));
  if (columns_of(line) <= columns || gap == line.npos) return std::string(line) + "\n";
  const size_t text = line.find_first_not_of(' ', gap);
  return fmt::format("{}\n      {}\n", line.substr(0, gap),
                     indented(line.substr(text), 6, columns));
}

/// Lines that begin with blanks are examples; others are paragraphs, up to a line that ends in a
/// colon. A word with a colon is a heading.
std::string footer(std::string_view text, size_t columns) {
  std::string out, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += indented(paragraph, 0, columns) + "\n";
    paragraph.clear();
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with(' ')) {
      end_paragraph();
      out += example(line, columns);
      continue;
    }
    const bool is_heading = line.ends_with(':') && line.find(' ') == line.npos;
    if (is_heading) end_paragraph();
    paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    if (line.ends_with(':')) end_paragraph();
  }
  end_paragraph();
  return out;
}

}  // namespace

class HelpText {
 public:
  static std::string of(const App& app, bool developer, size_t columns) {
    const std::string is = app.parent_ == nullptr ? "" : app.full_name() + ": ";
    std::string out = indented(is + app.description_, 0, columns) + "\n\n" + usage(app) + "\n";
    out += app.commands_.empty() ? options(app, developer, columns) : commands(app, columns);
    out += "\n" + footer(app.footer_, columns);
    if (!developer && std::ranges::any_of(app.options_, is_for_developers)) {
      const std::string more =
          fmt::format("`{} --help-all` shows the options for developers, too.", app.full_name());
      out += "\n" + indented(more, 0, columns) + "\n";
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

  static std::string commands(const App& app, size_t columns) {
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
        out += fmt::format("  {:<10} {}\n", command->name_,
                           indented(command->description_, 13, columns));
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

  static std::string options(const App& app, bool developer, size_t columns) {
    std::vector<std::string> groups;
    for (const auto& option : app.options_) {
      if (!developer && is_for_developers(option)) continue;
      if (std::ranges::find(groups, option->group_) == groups.end()) {
        groups.push_back(option->group_);
      }
    }
    // The groups of the command itself come first, those for developers last.
    std::ranges::stable_sort(groups, {}, [](const std::string& group) {
      return group == "Options" ? 0 : group == kDeveloperOptions ? 2 : 1;
    });
    std::string out;
    for (const std::string& group : groups) {
      out += (out.empty() ? "" : "\n") + group + ":\n";
      for (const auto& option : app.options_) {
        if (option->group_ == group) out += row(left(*option), right(*option), columns);
      }
    }
    return out;
  }
};

std::string App::help(bool developer, size_t columns) const {
  return HelpText::of(*this, developer, columns);
}

}  // namespace tokamak::cli
