// Fetching from one repository of a hub: follows redirects, waits and tries again, goes on where a
// connection was cut, and turns statuses into sentences.
//
// {endpoint}/{repo}/resolve/{revision}/{path} answers small files itself and redirects large ones
// to another host, with an address that is good for an hour or so. The token goes to the endpoint's
// own origin and nowhere else. Reference: huggingface_hub, src/huggingface_hub/file_download.py.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "download/http.h"
#include "hub/model_name.h"
#include "hub/settings.h"

namespace tokamak::download {

/// One request for a part of a file, or for a whole text of unknown length.
struct Fetch {
  std::string url, what;       // `what` is its name in messages
  std::optional<Range> range;  // none: the whole
  uint64_t file_size = 0;      // with a range: of the whole file, which the server must confirm
  /// Takes the bytes in order, each once. An error ends everything.
  std::function<Result<void>(std::span<const std::byte>)> sink;
  /// Without a range: what the sink has taken is void, the text begins again.
  std::function<void()> restart;
  /// Called when all bytes are there.
  std::function<Result<void>()> done;
  bool patient = true;  // false: a host that cannot be reached is not tried again
};

/// The calls to and from the outside while it lasts.
struct FetchHooks {
  std::function<bool()> cancelled;
  std::function<void(const std::string&)> notice;  // "waiting 20 s: ..."
  std::function<void()> tick;                      // several times a second
};

class Fetcher {
 public:
  Fetcher(hub::Settings settings, hub::ModelName name, FetchHooks hooks);

  /// The address of a file at a commit.
  std::string file_url(std::string_view path, const std::string& revision) const;
  std::string listing_url() const;

  void add(Fetch fetch);
  /// Until everything that was added is there, or the first error.
  Result<void> run();

  /// A whole text of at most `max_bytes`.
  Result<std::string> text(const std::string& url, const std::string& what, uint64_t max_bytes);
  /// These bytes of a file of `file_size`.
  Result<std::string> bytes(const std::string& url, const std::string& what, Range range,
                            uint64_t file_size);

  /// Lets the outside know that work goes on.
  void tick() const {
    if (hooks_.tick) hooks_.tick();
  }

  const hub::Settings& settings() const { return settings_; }
  const hub::ModelName& name() const { return name_; }

 private:
  struct Active {
    Fetch fetch;
    std::string url;        // where the redirects have led
    uint64_t received = 0;  // of the fetch
    uint64_t at = 0;        // in the file, of the next byte of this reply
    uint32_t redirects = 0;
    uint32_t failures = 0;  // since the last byte
    double retry_at = 0;    // not before
    std::optional<Http::Id> id;
    bool head_checked = false;
    uint64_t wasted = 0;  // bytes of a reply that is of no use
    std::optional<Error> error;
  };

  void start(Active& active);
  bool take(Active& active, const Reply& head, std::span<const std::byte> bytes);
  bool check_head(Active& active, const Reply& head);
  /// True when the fetch has come to its end.
  Result<bool> finished(Active& active, const Reply& reply);
  Result<void> redirect(Active& active, const Reply& reply);
  Result<void> try_again(Active& active, const Reply& reply);
  Error refusal(const Active& active, const Reply& reply) const;
  bool complete(const Active& active) const;

  hub::Settings settings_;
  hub::ModelName name_;
  FetchHooks hooks_;
  std::deque<Fetch> waiting_;
  std::list<Active> active_;                       // their addresses stay
  std::map<std::string, std::string> redirected_;  // url -> where it leads for now
  Http http_;  // the last member: its transfers point into active_
};

}  // namespace tokamak::download
