#include "download/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/ascii.h"
#include "base/check.h"
#include "download/certificates.h"

namespace tokamak::download {
namespace {

constexpr long kConnectSeconds = 20;
// A transfer that brings less than this for so long counts as cut off.
constexpr long kSlowBytesPerSecond = 16, kSlowSeconds = 30;
constexpr int64_t kMaxRetryAfter = 24 * 3600;

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part_of(const std::string& url, CURLUPart part, unsigned flags = 0) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  char* text = nullptr;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      curl_url_get(parsed.get(), part, &text, flags) != CURLUE_OK) {
    return "";
  }
  std::string out(text);
  curl_free(text);
  return out;
}

struct Transfer {
  CURL* curl = nullptr;
  curl_slist* headers = nullptr;
  char problem[CURL_ERROR_SIZE] = {};
  Reply reply;
  Http::Body body;
  bool stopped = false;
  Http::Id id = 0;

  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
  }
};

size_t on_header(const char* data, size_t size, size_t count, void* user) {
  Reply& reply = static_cast<Transfer*>(user)->reply;
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) {  // "HTTP/1.1 206 Partial Content"; a 100 may come before
    reply = {};
    const size_t at = std::min(line.find(' '), line.size());
    const std::string_view digits = trimmed(line.substr(at));
    std::from_chars(digits.data(), digits.data() + digits.size(), reply.status);
  }
  const size_t colon = line.find(':');
  if (colon != line.npos) {
    const std::string name = ascii_lower(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "x-error-code") reply.error_code = value;
    if (name == "content-range") reply.content_range = value;
  }
  return size * count;
}

size_t on_body(const char* data, size_t size, size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  const std::span bytes(data, size * count);
  if (transfer->body(transfer->reply, std::as_bytes(bytes))) return bytes.size();
  transfer->stopped = true;
  return CURL_WRITEFUNC_ERROR;
}

}  // namespace

struct Http::State {
  CURLM* multi = curl_multi_init();
  std::map<CURL*, std::unique_ptr<Transfer>> transfers;
  Id next = 1;
};

Http::Http() : state_(std::make_unique<State>()) {
  TOK_CHECK(state_->multi != nullptr);
}

Http::~Http() {
  stop();
  curl_multi_cleanup(state_->multi);
}

Http::Id Http::start(const Request& request, Body body) {
  auto transfer = std::make_unique<Transfer>();
  CURL* curl = curl_easy_init();
  TOK_CHECK(curl != nullptr);
  transfer->curl = curl;
  transfer->id = state_->next++;
  transfer->body = std::move(body);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "tokamak");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L * 1024);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->problem);
  curl_easy_setopt(curl, CURLOPT_PRIVATE, transfer.get());
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer.get());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer.get());
  if (const std::string file = certificates_file(); !file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, file.c_str());
  }
  if (request.is_direct) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  // Lengths are those of the file, never of a packed form of it.
  transfer->headers = curl_slist_append(nullptr, "Accept-Encoding: identity");
  if (!request.token.empty()) {
    const std::string header = "Authorization: Bearer " + request.token;
    transfer->headers = curl_slist_append(transfer->headers, header.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->headers);
  if (request.range) {
    const std::string range = fmt::format("{}-{}", request.range->first, request.range->end - 1);
    curl_easy_setopt(curl, CURLOPT_RANGE, range.c_str());
  }
  TOK_CHECK(curl_multi_add_handle(state_->multi, curl) == CURLM_OK);
  const Id id = transfer->id;
  state_->transfers[curl] = std::move(transfer);
  return id;
}

std::optional<Http::Finished> Http::wait(double seconds) {
  for (bool waited = false;; waited = true) {
    int running = 0, left = 0;
    curl_multi_perform(state_->multi, &running);
    while (const CURLMsg* message = curl_multi_info_read(state_->multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      const auto at = state_->transfers.find(message->easy_handle);
      TOK_CHECK(at != state_->transfers.end());
      Transfer& transfer = *at->second;
      Finished finished{transfer.id, std::move(transfer.reply)};
      Reply& reply = finished.reply;
      const char* location = nullptr;
      curl_easy_getinfo(transfer.curl, CURLINFO_REDIRECT_URL, &location);
      if (location != nullptr) reply.location = location;
      curl_off_t retry_after = 0;
      curl_easy_getinfo(transfer.curl, CURLINFO_RETRY_AFTER, &retry_after);
      reply.retry_after = std::clamp<int64_t>(retry_after, 0, kMaxRetryAfter);
      if (transfer.stopped) {
        reply.problem = "stopped";
      } else if (code != CURLE_OK) {
        reply.problem = transfer.problem[0] != '\0' ? transfer.problem : curl_easy_strerror(code);
        reply.unreachable = code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
                            code == CURLE_COULDNT_RESOLVE_PROXY;
      }
      curl_multi_remove_handle(state_->multi, transfer.curl);
      state_->transfers.erase(at);
      return finished;
    }
    if (waited) return std::nullopt;
    curl_multi_poll(state_->multi, nullptr, 0, int(seconds * 1000), nullptr);
  }
}

void Http::stop() {
  for (const auto& [curl, transfer] : state_->transfers) {
    curl_multi_remove_handle(state_->multi, curl);
  }
  state_->transfers.clear();
}

std::string origin_of(const std::string& url) {
  const std::string scheme = ascii_lower(part_of(url, CURLUPART_SCHEME));
  if (scheme != "http" && scheme != "https") return "";
  const std::string port = part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  return fmt::format("{}://{}:{}", scheme, ascii_lower(part_of(url, CURLUPART_HOST)), port);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string host_of(const std::string& url) {
  const std::string host = part_of(url, CURLUPART_HOST);
  return host.empty() ? url : host;
}

}  // namespace tokamak::download
