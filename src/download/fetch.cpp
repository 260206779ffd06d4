#include "download/fetch.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace tokamak::download {
namespace {

constexpr size_t kConnections = 8;
constexpr uint32_t kMaxRedirects = 10, kMaxFailures = 6;
constexpr double kFirstPause = 0.5;
constexpr int64_t kLongestPause = 300;
// Limits the text that comes with an error or a redirect.
constexpr uint64_t kMaxWaste = 1 << 20;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_success(int status) {
  return status == 200 || status == 206;
}
bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}
bool may_pass(int status) {
  return status == 0 || status == 408 || status == 429 || status >= 500;
}

/// "bytes 0-99/1000" -> 0 and 1000; no total for "*".
struct ContentRange {
  uint64_t first = 0;
  std::optional<uint64_t> total;
};
std::optional<ContentRange> parse_content_range(std::string_view text) {
  ContentRange range;
  const size_t dash = text.find('-'), slash = text.find('/');
  if (!text.starts_with("bytes ") || dash == text.npos || slash == text.npos || slash < dash) {
    return std::nullopt;
  }
  const auto number = [](std::string_view digits, uint64_t& out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (!number(text.substr(6, dash - 6), range.first)) return std::nullopt;
  const std::string_view total = text.substr(slash + 1);
  if (total == "*") return range;
  uint64_t size = 0;
  if (!number(total, size)) return std::nullopt;
  range.total = size;
  return range;
}

}  // namespace

Fetcher::Fetcher(hub::Settings settings, hub::ModelName name, FetchHooks hooks)
    : settings_(std::move(settings)), name_(std::move(name)), hooks_(std::move(hooks)) {}

std::string Fetcher::listing_url() const {
  return fmt::format("{}/api/models/{}/revision/{}?blobs=true", settings_.endpoint, name_.repo,
                     escaped(name_.revision));
}

std::string Fetcher::file_url(std::string_view path, const std::string& revision) const {
  std::string out =
      fmt::format("{}/{}/resolve/{}", settings_.endpoint, name_.repo, escaped(revision));
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    out += "/" + escaped(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

void Fetcher::add(Fetch fetch) {
  waiting_.push_back(std::move(fetch));
}

void Fetcher::start(Active& active) {
  active.at = active.fetch.range ? active.fetch.range->first + active.received : 0;
  active.head_checked = false;
  active.wasted = 0;
  Request request{.url = active.url, .token = {}, .range = active.fetch.range};
  if (request.range) request.range->first = active.at;
  if (origin_of(active.url) == origin_of(settings_.endpoint)) request.token = settings_.token;
  active.id = http_.start(request, [this, &active](const Reply& head, auto bytes) {
    return take(active, head, bytes);
  });
}

bool Fetcher::complete(const Active& active) const {
  return active.fetch.range && active.received == active.fetch.range->size();
}

bool Fetcher::check_head(Active& active, const Reply& head) {
  active.head_checked = true;
  if (!active.fetch.range) {
    if (active.received > 0) active.fetch.restart();
    active.received = 0;
    return true;
  }
  if (head.status == 200) {  // the server ignores ranges and sends the file from its beginning
    active.at = 0;
    return true;
  }
  const auto range = parse_content_range(head.content_range);
  const uint64_t total = range ? range->total.value_or(active.fetch.file_size) : 0;
  if (!range || range->first != active.at || total != active.fetch.file_size) {
    active.error = Error{
        ErrorCode::kInvalidInput,
        fmt::format("{}: {} answers with \"{}\", expected bytes from {} of {}.", active.fetch.what,
                    host_of(active.url), head.content_range, active.at, active.fetch.file_size)};
    return false;
  }
  return true;
}

bool Fetcher::take(Active& active, const Reply& head, std::span<const std::byte> bytes) {
  if (!is_success(head.status)) {
    active.wasted += bytes.size();
    return active.wasted <= kMaxWaste;
  }
  if (!active.head_checked && !check_head(active, head)) return false;
  if (active.fetch.range) {
    const uint64_t wanted = active.fetch.range->first + active.received;
    const uint64_t skipped = std::min<uint64_t>(wanted - active.at, bytes.size());
    active.at += bytes.size();
    bytes = bytes.subspan(size_t(skipped));
    bytes = bytes.first(
        size_t(std::min<uint64_t>(bytes.size(), active.fetch.range->size() - active.received)));
  }
  if (bytes.empty()) return !complete(active);
  const auto taken = active.fetch.sink(bytes);
  if (!taken) {
    active.error = taken.error();
    return false;
  }
  active.received += bytes.size();
  // A file without ranges begins anew each time: the same bytes again are no progress.
  if (active.fetch.range) active.failures = 0;
  return !complete(active) || active.at == active.fetch.range->end;
}

Error Fetcher::refusal(const Active& active, const Reply& reply) const {
  const std::string& repo = name_.repo;
  const std::string host = host_of(settings_.endpoint);
  const auto error = [](std::string text) {
    return Error{ErrorCode::kInvalidInput, std::move(text)};
  };
  if (origin_of(active.url) == origin_of(settings_.endpoint)) {
    const std::string page = settings_.endpoint + "/" + repo;
    if (reply.error_code == "GatedRepo") {
      return error(fmt::format(
          "{} is gated{}: accept its conditions at {} and set HF_TOKEN to a token of that account, "
          "which {}/settings/tokens makes.",
          repo, settings_.token.empty() ? "" : ", and the token that was sent has no access to it",
          page, settings_.endpoint));
    }
    if (reply.status == 403) {
      return error(
          fmt::format("{} refuses access to {}; {} may say why, and HF_TOKEN is to be a token that "
                      "may read it.",
                      host, repo, page));
    }
    if (reply.error_code == "RevisionNotFound") {
      return error(fmt::format("{} has no revision \"{}\" at {}.", repo, name_.revision, host));
    }
    if (reply.error_code == "EntryNotFound") {
      return error(fmt::format("{} has no file \"{}\" at {}.", repo, active.fetch.what, host));
    }
    if (reply.status == 401 || reply.status == 404) {
      return error(fmt::format(
          "{} knows no model {}{}; check the name. If it is private, set HF_TOKEN to a token that "
          "may read it{}.",
          host, repo, reply.status == 404 ? "" : " that everybody may read",
          settings_.token.empty() ? "" : " (the one that was sent may not)"));
    }
  }
  return error(fmt::format(
      "{}: {} answers with status {}{}.", active.fetch.what, host_of(active.url), reply.status,
      reply.status == 416 ? ", so it holds fewer bytes than the hub says" : ""));
}

Result<void> Fetcher::redirect(Active& active, const Reply& reply) {
  const std::string origin = origin_of(reply.location);
  if (origin.empty() || ++active.redirects > kMaxRedirects) {
    return invalid_input("{}: {} redirects {}.", active.fetch.what, host_of(active.url),
                         origin.empty() ? "to no http address" : "in circles");
  }
  if (origin.starts_with("http://") && active.url.starts_with("https://")) {
    return invalid_input("{}: {} redirects to {} without encryption, which is refused.",
                         active.fetch.what, host_of(active.url), host_of(reply.location));
  }
  active.url = reply.location;
  start(active);
  return {};
}

Result<void> Fetcher::try_again(Active& active, const Reply& reply) {
  const std::string host = host_of(active.url);
  std::string why = reply.problem.empty() ? "the connection was closed early" : reply.problem;
  if (!is_success(reply.status) && reply.status != 0) why = fmt::format("status {}", reply.status);
  if (reply.unreachable && !active.fetch.patient) {
    return invalid_input(
        "{} cannot be reached: {}. Is the network there? `tokamak list` shows the "
        "models that need none.",
        host, why);
  }
  if (reply.retry_after > kLongestPause) {
    return invalid_input("{} asks to come back in {} minutes (status {}); what was fetched stays.",
                         host, (reply.retry_after + 59) / 60, reply.status);
  }
  if (++active.failures >= kMaxFailures) {
    return invalid_input(
        "{}: fetching from {} fails {} times: {}. What was fetched stays; the next `tokamak pull "
        "{}` goes on from there.",
        active.fetch.what, host, kMaxFailures, why, name_.text());
  }
  double pause = kFirstPause * double(1u << (active.failures - 1));
  if (reply.retry_after > 0) pause = double(reply.retry_after);
  if (pause >= 2 && hooks_.notice) {
    hooks_.notice(fmt::format("{}: {}; trying again in {:.0f} s", host, why, pause));
  }
  // Addresses that redirects lead to expire.
  redirected_.erase(active.fetch.url);
  active.url = active.fetch.url;
  active.redirects = 0;
  active.retry_at = now() + pause;
  return {};
}

Result<bool> Fetcher::finished(Active& active, const Reply& reply) {
  active.id.reset();
  if (active.error) return Failure(*active.error);
  const bool success = is_success(reply.status);
  if (complete(active) || (success && !active.fetch.range && reply.problem.empty())) {
    if (active.url != active.fetch.url) redirected_[active.fetch.url] = active.url;
    if (active.fetch.done) TOK_TRY(active.fetch.done());
    return true;
  }
  if (is_redirect(reply.status)) {
    TOK_TRY(redirect(active, reply));
    return false;
  }
  const bool away = active.url != active.fetch.url;
  if (success || may_pass(reply.status) || (away && active.failures == 0)) {
    TOK_TRY(try_again(active, reply));
    return false;
  }
  return Failure(refusal(active, reply));
}

Result<void> Fetcher::run() {
  const auto stop = [&](Error error) {
    http_.stop();
    active_.clear();
    waiting_.clear();
    return Failure(std::move(error));
  };
  while (!waiting_.empty() || !active_.empty()) {
    while (active_.size() < kConnections && !waiting_.empty()) {
      Active& active = active_.emplace_back();
      active.fetch = std::move(waiting_.front());
      waiting_.pop_front();
      const auto known = redirected_.find(active.fetch.url);
      active.url = known == redirected_.end() ? active.fetch.url : known->second;
    }
    for (Active& active : active_) {
      if (!active.id && active.retry_at <= now()) start(active);
    }
    const auto event = http_.wait(0.1);
    tick();
    if (hooks_.cancelled && hooks_.cancelled()) {
      return stop({ErrorCode::kCancelled, "Stopped; the next pull goes on from here."});
    }
    if (!event) continue;
    const auto at = std::ranges::find(active_, std::optional(event->id), &Active::id);
    if (at == active_.end()) continue;
    const auto ended = finished(*at, event->reply);
    if (!ended) return stop(ended.error());
    if (*ended) active_.erase(at);
  }
  return {};
}

Result<std::string> Fetcher::text(const std::string& url, const std::string& what,
                                  uint64_t max_bytes) {
  std::string out;
  Fetch fetch{.url = url, .what = what, .range = {}, .sink = {}, .restart = {}, .done = {}};
  fetch.patient = false;
  fetch.restart = [&] { out.clear(); };
  fetch.sink = [&](std::span<const std::byte> bytes) -> Result<void> {
    if (bytes.size() > max_bytes - out.size()) {
      return invalid_input("{}: {} sends more than {} bytes.", what, host_of(url), max_bytes);
    }
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  };
  add(std::move(fetch));
  TOK_TRY(run());
  return out;
}

Result<std::string> Fetcher::bytes(const std::string& url, const std::string& what, Range range,
                                   uint64_t file_size) {
  std::string out;
  Fetch fetch{.url = url, .what = what, .range = range, .sink = {}, .restart = {}, .done = {}};
  fetch.file_size = file_size;
  fetch.sink = [&](std::span<const std::byte> part) -> Result<void> {
    out.append(reinterpret_cast<const char*>(part.data()), part.size());
    return {};
  };
  add(std::move(fetch));
  TOK_TRY(run());
  return out;
}

}  // namespace tokamak::download
