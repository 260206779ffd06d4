#include "talk/talk_loop.h"

#include <gtest/gtest.h>

#include "talk/sounds_test.h"

namespace tokamak {
namespace {

constexpr uint32_t kRate = 1000;
using Task = TalkLoop::Task;

class TalkLoops : public testing::Test {
 protected:
  /// In steps of a frame, with an answer of which as much is played as time passes.
  void listen(const Samples& sound) {
    for (size_t at = 0; at < sound.size(); at += VoiceDetector::kFrame) {
      if (loop_.task() == Task::kAnswer && has_sound_) played_ += kRate / 50;
      loop_.listen(std::span(sound).subspan(at, VoiceDetector::kFrame), played_);
    }
  }
  /// Somebody says that, and the loop wants an answer.
  void ask(const std::string& text) {
    listen(joined({voice(1), silence(0.8)}));
    ASSERT_EQ(loop_.task(), Task::kTranscribe);
    loop_.heard(text);
    ASSERT_EQ(loop_.task(), Task::kAnswer);
    played_ = 0;
    has_sound_ = false;
  }
  void say(uint32_t number, std::string_view piece, double seconds) {
    has_sound_ = true;
    loop_.say(number, piece, size_t(seconds * kRate));
  }

  TalkLoop loop_ = TalkLoop({}, kRate);
  uint64_t played_ = 0;
  bool has_sound_ = false;
};

TEST_F(TalkLoops, ListenAndAnswerInTurn) {
  listen(silence(1));
  EXPECT_TRUE(loop_.is_idle());
  ask(" What time is it?");
  EXPECT_EQ(loop_.question(), "What time is it?");
  loop_.write("Late. Very late.");
  say(1, "Late.", 1);
  say(2, "Very late.", 1);
  loop_.end();
  listen(silence(1.9));
  EXPECT_EQ(loop_.task(), Task::kAnswer) << "it has not been played to its end";
  EXPECT_FALSE(loop_.take_turn());
  listen(silence(0.2));
  EXPECT_TRUE(loop_.is_idle());
  const auto turn = loop_.take_turn();
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->question, "What time is it?");
  EXPECT_EQ(turn->answer, "Late. Very late.");
  EXPECT_FALSE(turn->is_interrupted);
  EXPECT_FALSE(loop_.take_turn()) << "once";
  ask("Thanks.");
  EXPECT_EQ(loop_.question(), "Thanks.");
}

TEST_F(TalkLoops, KeepWhatWasHeardOfAnAnswerThatIsInterrupted) {
  ask("What time is it?");
  loop_.write("Late. Very late. You should be in bed.");
  say(1, "Late.", 1);
  say(2, "Very late.", 1);
  listen(silence(1.8));
  listen(voice(0.18));
  EXPECT_EQ(loop_.task(), Task::kAnswer) << "a cough";
  listen(voice(0.1));
  EXPECT_EQ(loop_.task(), Task::kListen);
  const auto turn = loop_.take_turn();
  ASSERT_TRUE(turn);
  EXPECT_TRUE(turn->is_interrupted);
  EXPECT_EQ(turn->answer, "Late. Very late.");
  listen(joined({voice(1), silence(1)}));
  ASSERT_EQ(loop_.task(), Task::kTranscribe);
  EXPECT_NEAR(seconds_of(loop_.utterance().size()), 0.3 + 0.28 + 1 + 0.2, 0.021)
      << "from the beginning of the interruption on";
}

TEST_F(TalkLoops, PutQuestionsTogetherWhereNothingWasHeardInBetween) {
  ask("What time is it");
  loop_.write("Late.");
  listen(joined({voice(1), silence(0.8)}));
  EXPECT_FALSE(loop_.take_turn());
  ASSERT_EQ(loop_.task(), Task::kTranscribe);
  loop_.heard("in Rome?");
  EXPECT_EQ(loop_.question(), "What time is it in Rome?");
  loop_.write("Early.");
  played_ = 0;
  say(1, "Early.", 1);
  loop_.end();
  listen(silence(2));
  EXPECT_EQ(loop_.take_turn()->answer, "Early.") << "nothing of the other answer";
}

TEST_F(TalkLoops, AddTheRestOfAQuestionThatContinues) {
  listen(joined({voice(1), silence(0.8)}));
  ASSERT_EQ(loop_.task(), Task::kTranscribe);
  const size_t before = loop_.utterance().size();
  listen(voice(0.5));
  EXPECT_EQ(loop_.task(), Task::kListen);
  listen(silence(0.8));
  ASSERT_EQ(loop_.task(), Task::kTranscribe);
  EXPECT_GT(loop_.utterance().size(), before + kSampleRate / 2);
}

TEST_F(TalkLoops, ContinueListeningWhereNothingWasSaid) {
  listen(joined({voice(1), silence(0.8)}));
  loop_.heard("  ");
  EXPECT_TRUE(loop_.is_idle());
  ask("Hello");
  EXPECT_EQ(loop_.question(), "Hello");
}

TEST_F(TalkLoops, ListenNoFurtherThanToATask) {
  const Samples sound = joined({silence(0.5), voice(1), silence(0.9)});
  const size_t taken = loop_.listen_on(sound, 0);
  EXPECT_EQ(loop_.task(), Task::kTranscribe);
  EXPECT_NEAR(seconds_of(taken), 0.5 + 1 + 0.7, 0.05);
  EXPECT_EQ(loop_.listen_on(std::span(sound).subspan(taken), 0), sound.size() - taken);
  EXPECT_EQ(loop_.task(), Task::kTranscribe);
  EXPECT_EQ(loop_.listen_on({}, 0), 0u);
}

TEST_F(TalkLoops, AnswerAQuestionThatWasTyped) {
  listen(silence(0.5));
  loop_.heard("What time is it?");
  EXPECT_EQ(loop_.task(), Task::kAnswer);
  EXPECT_EQ(loop_.question(), "What time is it?");
}

TEST_F(TalkLoops, LeaveOutShortSoundsDuringAnAnswer) {
  ask("What time is it?");
  say(1, "Late.", 5);
  listen(joined({silence(1), voice(0.14), silence(1), voice(0.14), silence(1)}));
  EXPECT_EQ(loop_.task(), Task::kAnswer);
  loop_.end();
  listen(silence(2));
  EXPECT_TRUE(loop_.is_idle());
}

TEST_F(TalkLoops, EndWithAnAnswerWithoutASound) {
  ask("What time is it?");
  loop_.write("...");
  loop_.end();
  listen(silence(0.02));
  EXPECT_EQ(loop_.take_turn()->answer, "...");
}

TEST_F(TalkLoops, MayBeDeafDuringAnAnswer) {
  loop_ = TalkLoop({.may_interrupt = false}, kRate);
  ask("What time is it?");
  say(1, "Late.", 2);
  loop_.end();
  listen(voice(1.9));
  EXPECT_EQ(loop_.task(), Task::kAnswer);
  listen(silence(0.2));
  EXPECT_TRUE(loop_.is_idle()) << "nothing of that voice";
  EXPECT_FALSE(loop_.take_turn()->is_interrupted);
}

}  // namespace
}  // namespace tokamak
