#include "report/support/tune_report.h"

#include "base/table.h"

namespace tokamak {
namespace {

std::string microseconds(double seconds) {
  return fmt::format("{:.1f}", seconds * 1e6);
}

Table problems_table(const TuneReport& report) {
  Table table;
  table.column("problem", "problem")
      .column("launches", "launches", Table::Align::kRight)
      .column("fastest", "chosen")
      .column("us", "seconds", Table::Align::kRight)
      .column("before", "before")
      .column("us", "seconds_before", Table::Align::kRight);
  for (const TunedProblem& problem : report.problems) {
    const bool same = problem.chosen == problem.before;
    const double now = problem.time_of(problem.chosen), then = problem.time_of(problem.before);
    table.row({problem.problem, problem.launches, problem.chosen, Cell(microseconds(now), now),
               Cell(same ? "the same" : problem.before, problem.before),
               Cell(same ? "" : microseconds(then), then)});
  }
  return table;
}

/// The sums over the launches that a choice was made for.
std::pair<double, double> before_and_now(const TuneReport& report) {
  double before = 0, now = 0;
  for (const TunedProblem& one : report.problems) {
    before += one.launches * one.time_of(one.before);
    now += one.launches * one.time_of(one.chosen);
  }
  return {before, now};
}

}  // namespace

std::string tune_text(const TuneReport& report) {
  const auto [before, now] = before_and_now(report);
  std::string out = problems_table(report).text(kScreenColumns);
  out +=
      fmt::format("\n{} problems timed on {} in {:.1f} s: {} us in place of {} us a step of each\n",
                  report.problems.size(), report.device.name, report.seconds, microseconds(now),
                  microseconds(before));
  return out + (report.kept_in.empty() ? "kept nowhere: there is no cache folder to write to\n"
                                       : fmt::format("kept in {}\n", report.kept_in));
}

Json tune_json(const TuneReport& report) {
  const auto [before, now] = before_and_now(report);
  Json out;
  out.set("model", report.model).set("device", report.device.name);
  out.set("driver", report.device.driver).set("seconds", report.seconds);
  out.set("seconds_before", before).set("seconds_now", now);
  out.set("kept_in", report.kept_in.empty() ? Json() : Json(report.kept_in));
  Json problems = problems_table(report).json();
  for (size_t i = 0; i < report.problems.size(); ++i) {
    Json timed{Json::Object{}};
    for (const auto& [name, time] : report.problems[i].seconds) timed.set(name, time);
    for (const auto& [name, time] : report.problems[i].dropped) timed.set(name, time);
    problems.as_array()[i].set("variants", std::move(timed));
  }
  return out.set("problems", std::move(problems));
}

}  // namespace tokamak
