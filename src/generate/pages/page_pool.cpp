#include "generate/pages/page_pool.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {

PagePool::PagePool(uint32_t pages) : users_(pages), kept_(pages) {
  free_.reserve(pages);
  reset();
}

void PagePool::reset() {
  ++changes_;
  std::ranges::fill(users_, 0);
  kept_.assign(size(), false);
  idle_ = 0;
  free_.clear();
  for (uint32_t page = size(); page > 0; --page) free_.push_back(page - 1);
}

std::optional<uint32_t> PagePool::take() {
  if (free_.empty()) return std::nullopt;
  const uint32_t page = free_.back();
  free_.pop_back();
  users_[page] = 1;
  return page;
}

void PagePool::share(uint32_t page) {
  TOK_CHECK(users_[page] > 0);
  if (kept_[page] && users_[page] == 1) --idle_;
  ++users_[page];
  ++changes_;
}

void PagePool::drop(uint32_t page) {
  TOK_CHECK(users_[page] > 0);
  ++changes_;
  if (--users_[page] == 0) free_.push_back(page);
  if (kept_[page] && users_[page] == 1) ++idle_;
}

void PagePool::keep(uint32_t page) {
  share(page);
  kept_[page] = true;
}

void PagePool::release(uint32_t page) {
  if (kept_[page] && users_[page] == 1) --idle_;
  kept_[page] = false;
  drop(page);
}

PrefixCache::Block PrefixCache::block_at(std::span<const uint32_t> ids, size_t page) {
  Block block;
  std::ranges::copy(ids.subspan(page * kPageTokens, kPageTokens), block.begin());
  return block;
}

PrefixCache::NodeId PrefixCache::root_of(std::string_view tenant) {
  const auto found = roots_.find(tenant);
  if (found != roots_.end()) return found->second;
  const auto made = roots_.emplace(std::string(tenant), next_id_++).first;
  nodes_[made->second].tenant = &made->first;
  return made->second;
}

std::optional<PrefixCache::NodeId> PrefixCache::child_of(NodeId parent, const Block& block) const {
  const auto found = children_.find({parent, block});
  if (found == children_.end()) return std::nullopt;
  return found->second;
}

void PrefixCache::touch(NodeId id) {
  Node& node = nodes_.at(id);
  if (node.children == 0) leaves_.erase({node.used, id});
  node.used = ++clock_;
  if (node.children == 0) leaves_.emplace(node.used, id);
}

std::vector<uint32_t> PrefixCache::find(std::string_view tenant, std::span<const uint32_t> ids) {
  std::vector<uint32_t> pages;
  const auto root = roots_.find(tenant);
  if (root == roots_.end()) return pages;
  NodeId at = root->second;
  for (size_t i = 0; (i + 1) * kPageTokens <= ids.size(); ++i) {
    const std::optional<NodeId> next = child_of(at, block_at(ids, i));
    if (!next) break;
    at = *next;
    touch(at);
    pool_->share(nodes_.at(at).page);
    pages.push_back(nodes_.at(at).page);
  }
  return pages;
}

void PrefixCache::add(std::string_view tenant, std::span<const uint32_t> ids,
                      std::span<const uint32_t> pages) {
  const size_t full = std::min(pages.size(), ids.size() / kPageTokens);
  if (full == 0) return;
  NodeId parent = root_of(tenant);
  for (size_t i = 0; i < full; ++i) {
    const Block block = block_at(ids, i);
    const std::optional<NodeId> known = child_of(parent, block);
    if (known) {
      touch(*known);
      parent = *known;
      continue;
    }
    const NodeId id = next_id_++;
    Node& above = nodes_.at(parent);
    if (above.children++ == 0 && above.tenant == nullptr) leaves_.erase({above.used, parent});
    nodes_[id] = {.parent = parent, .page = pages[i], .block = block, .used = ++clock_};
    children_[{parent, block}] = id;
    leaves_.emplace(clock_, id);
    pool_->keep(pages[i]);
    parent = id;
  }
}

bool PrefixCache::evict() {
  const auto is_unused = [&](const auto& leaf) {
    return pool_->users(nodes_.at(leaf.second).page) == 1;
  };
  const auto oldest = std::ranges::find_if(leaves_, is_unused);
  if (oldest == leaves_.end()) return false;
  const NodeId id = oldest->second;
  leaves_.erase(oldest);
  const Node node = nodes_.at(id);
  nodes_.erase(id);
  children_.erase({node.parent, node.block});
  drop_child(node.parent);
  pool_->release(node.page);
  return true;
}

void PrefixCache::drop_child(NodeId parent) {
  Node& node = nodes_.at(parent);
  if (--node.children > 0) return;
  if (node.tenant == nullptr) {
    leaves_.emplace(node.used, parent);
    return;
  }
  roots_.erase(roots_.find(*node.tenant));
  nodes_.erase(parent);
}

void PrefixCache::clear() {
  for (const auto& [id, node] : nodes_) {
    if (node.tenant == nullptr) pool_->release(node.page);
  }
  forget();
}

void PrefixCache::forget() {
  roots_.clear();
  nodes_.clear();
  children_.clear();
  leaves_.clear();
}

}  // namespace tokamak
