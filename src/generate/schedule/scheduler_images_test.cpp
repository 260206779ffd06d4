// When the tower of an image runs: before the step that reads of it, and for no other reason.
#include <gtest/gtest.h>

#include "generate/schedule/fake_program_test.h"
#include "generate/schedule/scheduler.h"

namespace tokamak {
namespace {

struct Fixture {
  Fixture() {
    program.add_images(8);
    rows.emplace(program.plan(), FakeProgram::kVocab, ImageRows::WriteAngles());
    const SchedulerOptions options = {
        .context = 512, .vocab = FakeProgram::kVocab, .images = &*rows};
    scheduler = *Scheduler::make(program, nullptr, options, [] { return 0.0; });
  }

  /// An image of two tokens, whose tower is seen in the log.
  ImageRef image(const std::string& name) {
    return rows->add(1, 2, [this, name]() -> Result<std::vector<float>> {
      program.log += fmt::format("tower {} ", name);
      if (fails) return fail(ErrorCode::kOutOfMemory, "The tower does not fit.");
      return std::vector<float>(2);
    });
  }
  /// A request about the images, whose prompt has a word before each and one at the end.
  RequestId add(std::vector<ImageRef> images, uint32_t first) {
    Request request;
    for (const ImageRef& one : images) {
      request.prompt.insert(request.prompt.end(), {first, one->first_id, one->first_id + 1});
    }
    request.prompt.push_back(first + 1);
    request.images = std::move(images);
    request.params.sampling.temperature = 0;
    request.params.max_tokens = 1;
    request.done = [this](Result<Generation> end) {
      ends += end ? fmt::format("{} ", finish_name(end->finish)) : end.error().message + " ";
    };
    const auto id = scheduler->add(std::move(request));
    EXPECT_TRUE(id) << id.error().message;
    return *id;
  }

  FakeProgram program;
  std::optional<ImageRows> rows;
  std::unique_ptr<Scheduler> scheduler;
  std::string ends;
  bool fails = false;
};

TEST(SchedulerImages, AreEncodedOneByOneBeforeTheStepsThatReadThem) {
  Fixture f;
  f.add({f.image("a"), f.image("b")}, 1);
  EXPECT_EQ(f.program.log, "") << "not when the request comes";
  ASSERT_TRUE(f.scheduler->run());
  EXPECT_EQ(f.program.log, "tower a 1+256+257+1@0/7 tower b 258+259+2@4/7 ");
}

TEST(SchedulerImages, AreNotEncodedForRequestsThatWereCancelled) {
  Fixture f;
  f.add({}, 10);
  const RequestId waiting = f.add({f.image("a")}, 1);
  ASSERT_TRUE(f.scheduler->step());
  f.scheduler->cancel(waiting);
  ASSERT_TRUE(f.scheduler->run());
  EXPECT_EQ(f.program.log, "11@0 ");
  EXPECT_EQ(f.ends, "cancelled length ");
}

TEST(SchedulerImages, ThatCannotBeEncodedEndTheirRequestAlone) {
  Fixture f;
  f.fails = true;
  f.add({f.image("a")}, 1);
  f.add({}, 10);
  ASSERT_TRUE(f.scheduler->run());
  EXPECT_EQ(f.ends, "The tower does not fit. length ");
}

}  // namespace
}  // namespace tokamak
