#include "generate/page_pool.h"

#include <algorithm>

#include "base/check.h"

namespace tokamak {

PagePool::PagePool(uint32_t pages) : users_(pages) {
  for (uint32_t page = pages; page > 0; --page) free_.push_back(page - 1);
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
  ++users_[page];
}

void PagePool::drop(uint32_t page) {
  TOK_CHECK(users_[page] > 0);
  if (--users_[page] == 0) free_.push_back(page);
}

PrefixCache::Block PrefixCache::block_at(std::span<const uint32_t> ids, size_t page) {
  Block block;
  std::ranges::copy(ids.subspan(page * kPageTokens, kPageTokens), block.begin());
  return block;
}

uint32_t PrefixCache::root_of(std::string_view tenant) {
  const auto found = roots_.find(tenant);
  if (found != roots_.end()) return found->second;
  return roots_.emplace(std::string(tenant), next_id_++).first->second;
}

std::optional<uint32_t> PrefixCache::child_of(uint32_t parent, const Block& block) const {
  const auto found = children_.find({parent, block});
  if (found == children_.end()) return std::nullopt;
  return found->second;
}

void PrefixCache::touch(uint32_t id) {
  Node& node = nodes_.at(id);
  if (node.children == 0) leaves_.erase({node.used, id});
  node.used = ++clock_;
  if (node.children == 0) leaves_.emplace(node.used, id);
}

std::vector<uint32_t> PrefixCache::find(std::string_view tenant, std::span<const uint32_t> ids) {
  std::vector<uint32_t> pages;
  const auto root = roots_.find(tenant);
  if (root == roots_.end()) return pages;
  uint32_t at = root->second;
  for (size_t i = 0; (i + 1) * kPageTokens <= ids.size(); ++i) {
    const std::optional<uint32_t> next = child_of(at, block_at(ids, i));
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
  uint32_t parent = root_of(tenant);
  for (size_t i = 0; i < pages.size() && (i + 1) * kPageTokens <= ids.size(); ++i) {
    const Block block = block_at(ids, i);
    const std::optional<uint32_t> known = child_of(parent, block);
    if (known) {
      touch(*known);
      parent = *known;
      continue;
    }
    const uint32_t id = next_id_++;
    if (const auto found = nodes_.find(parent); found != nodes_.end()) {
      if (found->second.children++ == 0) leaves_.erase({found->second.used, parent});
    }
    nodes_[id] = {.parent = parent, .page = pages[i], .block = block, .used = ++clock_};
    children_[{parent, block}] = id;
    leaves_.emplace(clock_, id);
    pool_->share(pages[i]);
    parent = id;
  }
}

bool PrefixCache::evict() {
  const auto is_unused = [&](const auto& leaf) {
    return pool_->users(nodes_.at(leaf.second).page) == 1;
  };
  const auto oldest = std::ranges::find_if(leaves_, is_unused);
  if (oldest == leaves_.end()) return false;
  const uint32_t id = oldest->second;
  leaves_.erase(oldest);
  const Node node = nodes_.at(id);
  nodes_.erase(id);
  children_.erase({node.parent, node.block});
  if (const auto parent = nodes_.find(node.parent); parent != nodes_.end()) {
    if (--parent->second.children == 0) leaves_.emplace(parent->second.used, node.parent);
  }
  pool_->drop(node.page);
  return true;
}

void PrefixCache::clear() {
  for (const auto& [id, node] : nodes_) pool_->drop(node.page);
  roots_.clear();
  nodes_.clear();
  children_.clear();
  leaves_.clear();
}

}  // namespace tokamak
