// The pages of a KV cache: who has which, and what of them is kept for prompts to come.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace tokamak {

/// Counts who uses each page of a pool. Not for use by two threads at once.
class PagePool {
 public:
  explicit PagePool(uint32_t pages);

  uint32_t size() const { return uint32_t(users_.size()); }
  uint32_t free_pages() const { return uint32_t(free_.size()); }
  /// Pages that only a cache keeps, for whoever may come.
  uint32_t idle_pages() const { return idle_; }
  uint32_t users(uint32_t page) const { return users_[page]; }
  /// Counts how often a page was shared or dropped: as long as it stays, no page has become free,
  /// and none may be given back that could not before.
  uint64_t changes() const { return changes_; }

  /// A page that nobody uses, now with one user; nothing when there is none.
  std::optional<uint32_t> take();
  /// One user more. REQUIRES: the page has one.
  void share(uint32_t page);
  /// One user less; without any the page is free.
  void drop(uint32_t page);
  /// One user more, a cache. REQUIRES: as share().
  void keep(uint32_t page);
  /// The cache is a user no more.
  void release(uint32_t page);
  /// Nobody uses any page any more.
  void reset();

 private:
  std::vector<uint32_t> users_;
  std::vector<uint32_t> free_;
  std::vector<bool> kept_;  // by a cache
  uint32_t idle_ = 0;
  uint64_t changes_ = 0;
};

/// Full pages by the tokens that they hold, and those before them: a tree, whose paths from a root
/// are prefixes of sequences. Each tenant has a root of its own and never sees another's pages. A
/// page stays until evict() takes it, the one that was used the longest time ago first; a root
/// stays as long as it has pages, so that there are never more tenants than pages.
class PrefixCache {
 public:
  /// REQUIRES: the pool outlives this.
  explicit PrefixCache(PagePool& pool) : pool_(&pool) {}
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;
  ~PrefixCache() { clear(); }

  /// The pages of the longest prefix of `ids` that is known, each with the caller as one more user.
  std::vector<uint32_t> find(std::string_view tenant, std::span<const uint32_t> ids);
  /// Keeps the full pages of a sequence; of what is known already the pages that it knows.
  void add(std::string_view tenant, std::span<const uint32_t> ids, std::span<const uint32_t> pages);
  /// Gives back a page that nobody else uses; false when there is none.
  bool evict();
  /// Gives back everything, as when the device has lost what the pages held.
  void clear();
  /// The same without giving back: for a pool that is reset.
  void forget();
  uint32_t pages() const { return uint32_t(nodes_.size() - roots_.size()); }
  /// The number of tenants that have pages.
  size_t tenants() const { return roots_.size(); }
  /// Counts as if that many pages more had been kept, for tests of a cache that has seen many.
  void skip_ids(uint64_t count) { next_id_ += count; }

 private:
  using Block = std::array<uint32_t, kPageTokens>;
  using NodeId = uint64_t;  // never used twice: that of a node that is gone must not find another

  struct Node {
    NodeId parent = 0;
    uint32_t page = 0, children = 0;
    Block block = {};
    uint64_t used = 0;
    const std::string* tenant = nullptr;  // of a root, which has no page; null: another node
  };

  static Block block_at(std::span<const uint32_t> ids, size_t page);
  /// The root of that tenant, made where there is none.
  NodeId root_of(std::string_view tenant);
  std::optional<NodeId> child_of(NodeId parent, const Block& block) const;
  void touch(NodeId id);
  /// One of its children is gone. It becomes a leaf without the last one, and a root goes as well.
  void drop_child(NodeId parent);

  PagePool* pool_;
  std::map<std::string, NodeId, std::less<>> roots_;
  std::map<NodeId, Node> nodes_;
  std::map<std::pair<NodeId, Block>, NodeId> children_;
  std::set<std::pair<uint64_t, NodeId>> leaves_;  // by last use; no roots
  NodeId next_id_ = 1;
  uint64_t clock_ = 0;
};

}  // namespace tokamak
