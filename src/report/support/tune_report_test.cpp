#include "report/support/tune_report.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/wrap.h"

namespace tokamak {
namespace {

const std::string kProblem =
    "fused_linear {prologue=norm, epilogue=residual_norm, scale=1, eps=1e-06, clears=true} "
    "f32[T,2048] u32[64] f32[2048] bf16[16384,2048] f32[T,2048] f32[2048] -> f32[T,16384] "
    "f32[T,2048] rows 4096/16384 in steps of 1";

TuneReport report_of_one() {
  const std::string one = "fused_linear.wgsl.matvec_subgroup_norm_residual_norm",
                    other = "fused_linear.wgsl.matvec_cores_norm_residual_norm";
  TuneReport report;
  report.problems.push_back({.problem = kProblem,
                             .before = other,
                             .chosen = one,
                             .launches = 26,
                             .seconds = {{one, 12.3e-6}, {other, 14.5e-6}}});
  return report;
}

TEST(TuneReport, FitsInAHundredColumns) {
  std::istringstream lines(tune_text(report_of_one()));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns_of(line), kScreenColumns) << line;
  }
}

TEST(TuneReport, KeepsWholeProblemsForPrograms) {
  const Json out = tune_json(report_of_one());
  EXPECT_EQ(*out.find("problems")->as_array()[0].find("problem"), Json(kProblem));
}

}  // namespace
}  // namespace tokamak
