#include "kernels/cuda/writer_state.h"
#include "kernels/unroll.h"

namespace tokamak::wgsl {

void Writer::block(const Block& statements) {
  ++depth_;
  for (const Statement& one : statements) write(one);
  --depth_;
}

void Writer::write(const Statement& statement) {
  if (const auto* own = std::get_if<If>(&statement.node)) return conditional(*own);
  if (const auto* own = std::get_if<For>(&statement.node)) return loop(*own);
  if (const auto* own = std::get_if<Nested>(&statement.node)) {
    line("{");
    block(*own->body);
    line("}");
    return;
  }
  line(simple(statement) + ";");
}

std::string Writer::simple(const Statement& statement) {
  if (const auto* own = std::get_if<Declare>(&statement.node)) return declare(statement.at, *own);
  if (const auto* own = std::get_if<Assign>(&statement.node)) return assign(*own);
  if (const auto* own = std::get_if<Evaluate>(&statement.node)) return expression(*own->call);
  if (const auto* own = std::get_if<Jump>(&statement.node)) return std::string(own->word);
  const auto& own = std::get<Return>(statement.node);
  return own.value == nullptr ? "return" : "return " + expression(*own.value);
}

std::string Writer::declare(Place at, const Declare& own) {
  const std::string type_text = own.type.name.empty() ? "auto" : type(own.type);
  if (own.value == nullptr) return fmt::format("{} {}{{}}", type_text, own.name);
  each_name(own.value, [&](std::string_view used) {
    if (used == own.name) {
      // In C++ the new one begins too early.
      wrong(at, fmt::format("\"{}\" is made of another \"{}\"; rename one", used, used));
    }
  });
  const std::string_view qualifier = own.kind == Declare::Kind::kVar   ? ""
                                     : own.kind == Declare::Kind::kLet ? "const "
                                                                       : "constexpr ";
  return fmt::format("{}{} {} = {}", qualifier, type_text, own.name, expression(*own.value));
}

std::string Writer::assign(const Assign& own) {
  const std::string target = expression(*own.target);
  if (own.value == nullptr) return fmt::format("{}{}", target, own.op);
  const std::string value = expression(*own.value);
  if (target == "_") return fmt::format("static_cast<void>({})", value);
  if (own.op == "<<=") return fmt::format("{0} = shift_left({0}, {1})", target, value);
  if (own.op == ">>=") return fmt::format("{0} = shift_right({0}, {1})", target, value);
  return fmt::format("{} {} {}", target, own.op, value);
}

void Writer::conditional(const If& own) {
  line(fmt::format("if ({}) {{", expression(*own.condition)));
  block(*own.then);
  if (own.otherwise != nullptr) {
    line("} else {");
    block(*own.otherwise);
  }
  line("}");
}

void Writer::loop(const For& own) {
  if (own.unrolling.is_wanted) {
    // The rounds are known where the loop ends below a constant.
    const auto* below = std::get_if<Binary>(&own.condition->node);
    const std::string most = own.unrolling.most.empty() ? fmt::format("{}u", kMaxRounds)
                                                        : std::string(own.unrolling.most);
    const std::string rounds = below == nullptr ? "" : expression(*below->right);
    line(fmt::format("#pragma unroll ({0} <= {1} ? int({0}) : 1)", rounds, most));
  }
  line(fmt::format("for ({}; {}; {}) {{", simple(*own.begin), expression(*own.condition),
                   simple(*own.step)));
  block(*own.body);
  line("}");
}

}  // namespace tokamak::wgsl
