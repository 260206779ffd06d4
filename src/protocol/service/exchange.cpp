#include "protocol/service/exchange.h"

#include <algorithm>

#include "base/splitmix.h"

namespace tokamak::protocol {
namespace {

using Kind = OutputPart::Kind;

constexpr size_t kShortIdLetters = 9;

uint64_t seed_of(uint64_t first, size_t choice) {
  if (choice == 0) return first;
  uint64_t state = first;
  state = next_random(state) + choice;
  return next_random(state) >> 1;
}

bool is_limit(FinishReason reason) {
  return reason == FinishReason::kMaxTokens || reason == FinishReason::kContextFull;
}

Finish finish_of(FinishReason reason, bool has_calls) {
  if (is_limit(reason)) return Finish::kLength;
  return has_calls ? Finish::kToolCalls : Finish::kStop;
}

}  // namespace

TextExchange::TextExchange(const Tokenizer& tokenizer, std::unique_ptr<AnswerWriter> writer,
                           Dialect dialect, TextJob job, Random random, Sink sink)
    : tokenizer_(&tokenizer),
      writer_(std::move(writer)),
      dialect_(dialect),
      job_(std::move(job)),
      random_(std::move(random)),
      sink_(std::move(sink)) {
  if (!job_.seed) job_.seed = random_() >> 1;
  choices_.reserve(job_.prompts.size() * job_.choices);
  for (size_t i = 0; i < job_.prompts.size() * job_.choices; ++i) {
    choices_.emplace_back(*tokenizer_, job_);
  }
}

Request TextExchange::request(size_t index) {
  Request& source = job_.prompts[index / job_.choices];
  const bool is_last = (index + 1) % job_.choices == 0;
  std::vector<uint32_t> prompt = std::exchange(source.prompt, {});
  Request request = source;
  if (!is_last || source.params.prompt_logprobs) source.prompt = prompt;
  request.prompt = std::move(prompt);
  request.repeats_prompt = index % job_.choices != 0;
  request.params.has_text = false;  // it is made here, between marks
  request.params.sampling.seed = seed_of(*job_.seed, index % job_.choices);
  request.callbacks.token = [own = shared_from_this(), index](uint32_t id,
                                                              const Logprobs* logprobs) {
    if (!own->is_over_) own->take_token(index, id, logprobs);
  };
  request.callbacks.prompt_logprobs = [own = shared_from_this(),
                                       index](std::span<const Logprobs> of) {
    own->choices_[index].prompt.assign(of.begin(), of.end());
  };
  request.callbacks.cancelled = [own = shared_from_this(), index] {
    return own->is_over_ || own->choices_[index].is_cut ||
           (own->sink_.is_cancelled && own->sink_.is_cancelled());
  };
  request.done = [own = shared_from_this(), index](Result<Generation> end) {
    if (!own->is_over_) own->take_end(index, std::move(end));
  };
  return request;
}

void TextExchange::fail(const ApiError& error) {
  if (std::exchange(is_over_, true)) return;
  if (!has_begun_) return sink_.whole(error.status, error.body(dialect_).dump());
  sink_.write(writer_->error(error));
  sink_.end();
}

void TextExchange::take_token(size_t index, uint32_t id, const Logprobs* logprobs) {
  Choice& choice = choices_[index];
  begin_stream(index);
  ++choice.tokens;
  if (logprobs != nullptr) choice.logprob += double(logprobs->chosen.logprob);
  const auto& ends = prompt_of(index).params.end_ids;
  if (ends && std::ranges::find(*ends, id) != ends->end()) return;
  if (logprobs != nullptr && job_.has_logprobs) {
    choice.completion.tokens.push_back({*logprobs, choice.characters});
  }
  const bool was_reasoning = choice.reader.is_reasoning();
  const auto mark = std::ranges::find(job_.marks, id, &TokenMark::id);
  if (mark == job_.marks.end()) {
    take_text(index, choice.decoder->push(id));
  } else {
    take_text(index, choice.decoder->finish());
    choice.decoder.emplace(*tokenizer_, true);
    take_parts(index, choice.reader.push_mark(mark->text));
  }
  choice.completion.reasoning_tokens += was_reasoning || choice.reader.is_reasoning();
}

void TextExchange::take_text(size_t index, std::string_view text) {
  Choice& choice = choices_[index];
  choice.characters += count_characters(text);
  take_parts(index, choice.reader.push(text));
}

void TextExchange::take_parts(size_t index, const OutputParts& parts) {
  for (const OutputPart& part : parts) {
    Choice& choice = choices_[index];
    if (choice.is_cut) return;
    if (part.kind == Kind::kContent) {
      take_content(index, part.text);
      continue;
    }
    const std::string held = choice.stop.finish();
    if (!held.empty()) say(index, {Kind::kContent, held});
    say(index, part);
    if (part.kind == Kind::kCallEnd && job_.one_call_only) choice.is_cut = true;
  }
}

void TextExchange::take_content(size_t index, std::string_view text) {
  Choice& choice = choices_[index];
  const bool may_stop = choice.tokens >= prompt_of(index).params.sampling.min_tokens;
  const std::string safe = may_stop ? choice.stop.push(text) : std::string(text);
  if (!safe.empty()) say(index, {Kind::kContent, safe});
  if (!choice.stop.stopped()) return;
  choice.completion.stop = *choice.stop.matched();
  choice.is_cut = true;
}

void TextExchange::say(size_t index, const OutputPart& part) {
  Completion& completion = choices_[index].completion;
  switch (part.kind) {
    case Kind::kReasoning:
    case Kind::kContent:
      if (completion.items.empty() || completion.items.back().kind != part.kind) {
        completion.items.push_back({.kind = part.kind});
      }
      completion.items.back().text += part.text;
      break;
    case Kind::kCallBegin: {
      const bool is_short = job_.form.tools != nullptr && job_.form.tools->has_short_ids;
      std::string id = is_short ? random_id("", random_, kShortIdLetters)
                                : random_id(writer_->call_prefix(), random_);
      completion.items.push_back(
          {.kind = part.kind, .text = {}, .name = part.text, .id = std::move(id)});
      break;
    }
    case Kind::kCallArguments:
      completion.items.back().text += part.text;
      break;
    case Kind::kCallEnd:
      break;
    case Kind::kCallCut:
      completion.items.back().is_cut = true;
      break;
  }
  if (!job_.streams) return;
  const std::string written = writer_->part(index, completion, part);
  if (!written.empty()) sink_.write(written);
}

void TextExchange::begin_stream(size_t index) {
  Choice& choice = choices_[index];
  if (std::exchange(choice.has_begun, true)) return;
  if (job_.streams) {
    if (!std::exchange(has_begun_, true)) sink_.begin(200, writer_->stream_type());
    const std::string written = writer_->begin(index, choice.completion);
    if (!written.empty()) sink_.write(written);
  }
  const std::string& echo = job_.echoes[index / job_.choices];
  const Request& prompt = prompt_of(index);
  if (prompt.params.prompt_logprobs) {
    Logprobs first{.chosen = {prompt.prompt.front(), kUnknownLogprob}, .top = {}};
    choice.prompt.insert(choice.prompt.begin(), std::move(first));
    const std::vector<uint64_t> offsets = prompt_offsets(*tokenizer_, prompt.prompt, echo);
    for (size_t i = 0; i < choice.prompt.size(); ++i) {
      choice.completion.tokens.push_back({std::move(choice.prompt[i]), offsets[i]});
    }
    choice.prompt.clear();
  }
  choice.characters = count_characters(echo);
  if (!echo.empty()) say(index, {Kind::kContent, echo});
}

void TextExchange::take_end(size_t index, Result<Generation> end) {
  if (!end) return fail(api_error(end.error()));
  Choice& choice = choices_[index];
  if (end->finish == FinishReason::kCancelled && !choice.is_cut) {
    return fail(cancelled_by_server());
  }
  begin_stream(index);
  take_text(index, choice.decoder->finish());
  take_parts(index, choice.reader.finish(is_limit(end->finish)));
  const std::string held = choice.stop.finish();
  if (!choice.is_cut && !held.empty()) say(index, {Kind::kContent, held});
  Completion& completion = choice.completion;
  completion.end = *std::move(end);
  const bool has_calls = completion.calls_until(completion.items.size()) > 0;
  completion.finish =
      finish_of(choice.is_cut ? FinishReason::kStopString : completion.end.finish, has_calls);
  if (completion.finish == Finish::kLength && !completion.items.empty()) {
    CompletionItem& last = completion.items.back();
    last.is_cut = last.is_cut || last.kind != Kind::kCallBegin;
  }
  choice.has_ended = true;
  if (job_.streams) sink_.write(writer_->end(index, completion));
  if (std::ranges::all_of(choices_, &Choice::has_ended)) finish_all();
}

std::vector<Completion> TextExchange::shown() {
  std::vector<Completion> out;
  for (size_t first = 0; first < choices_.size(); first += job_.choices) {
    const auto own = std::span(choices_).subspan(first, job_.choices);
    if (job_.shown < job_.choices) {
      const auto mean = [](const Choice& one) {
        return one.logprob / double(std::max<uint64_t>(one.tokens, 1));
      };
      std::ranges::stable_sort(own, std::greater(), mean);
    }
    for (Choice& choice : own.first(job_.shown)) out.push_back(std::move(choice.completion));
  }
  return out;
}

Usage TextExchange::usage() const {
  Usage all;
  all.prefill_seconds = choices_.front().completion.end.prefill_seconds;
  all.decode_seconds = choices_.front().completion.end.decode_seconds;
  for (size_t i = 0; i < choices_.size(); ++i) {
    const Completion& completion = choices_[i].completion;
    all.completion_tokens += completion.end.ids.size();
    all.reasoning_tokens += completion.reasoning_tokens;
    if (i % job_.choices != 0) continue;  // a prompt counts once
    all.prompt_tokens += completion.end.prompt_tokens;
    all.cached_tokens += completion.end.cached_tokens;
  }
  return all;
}

void TextExchange::finish_all() {
  is_over_ = true;
  const Usage counted = usage();
  const std::vector<Completion> completions = shown();
  if (!job_.streams) return sink_.whole(200, writer_->whole(completions, counted).dump());
  sink_.write(writer_->finish(completions, counted));
  sink_.end();
}

}  // namespace tokamak::protocol
