// pending_operations.cc: see pending_operations.h.
#include "notebook/publish/pending_operations.h"

#include <algorithm>
#include <utility>

#include "notebook/files/note_path.h"
#include "notebook/files/portable_name.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kKeyPath = 400;  // bytes; a longer path is cut and numbered

// Whether the operation leaves a file at `path`, one of its paths.
std::optional<bool> leaves(const Operation& operation, std::string_view path) {
  using enum OperationKind;
  if (operation.nothing) return false;
  switch (operation.kind) {
    case create:
    case update: return true;
    case move: return operation.path == path;
    case remove: return false;
    case sync: return operation.path == path && operation.event != "deleted";
    case batch_commit: return std::nullopt;
  }
  return std::nullopt;
}

// The path that a create or move makes, and the folders above it.
std::vector<std::string> made_by(const Operation& operation) {
  const bool makes = operation.kind == OperationKind::create || operation.kind == OperationKind::move;
  if (!makes || operation.nothing) return {};
  std::vector<std::string> paths = folders_of(operation.path);
  paths.push_back(operation.path);
  return paths;
}

}  // namespace

OperationTicket PendingOperations::add(Operation operation, std::string key) {
  const auto ticket = static_cast<OperationTicket>(++last_);
  restore({ticket, std::move(operation), std::move(key), false, std::nullopt});
  return ticket;
}

void PendingOperations::restore(PendingOperation entry) {
  for (const std::string& path : paths_of(entry.operation)) by_path_[path].insert(entry.ticket);
  if (!entry.key.empty()) keys_.insert(entry.key);
  if (entry.operation.group) ++groups_;
  if (entry.operation.kind == OperationKind::batch_commit) commits_.insert(entry.ticket);
  if (entry.id) by_id_[*entry.id] = entry.ticket;
  if (entry.operation.file != 0) by_file_[entry.operation.file] = entry.ticket;
  for (std::string& path : made_by(entry.operation)) {
    std::string folded = case_folded(path);
    by_case_.emplace(std::move(folded), std::move(path));
  }
  entries_.emplace(entry.ticket, std::move(entry));
}

void PendingOperations::name(OperationTicket ticket, EventId id) {
  const auto found = entries_.find(ticket);
  if (found == entries_.end()) return;
  found->second.id = id;
  by_id_[id] = ticket;
}

void PendingOperations::drop(OperationTicket ticket) {
  const auto found = entries_.find(ticket);
  if (found == entries_.end()) return;
  const PendingOperation& entry = found->second;
  for (const std::string& path : paths_of(entry.operation)) {
    const auto at = by_path_.find(path);
    if (at == by_path_.end()) continue;
    at->second.erase(ticket);
    if (at->second.empty()) by_path_.erase(at);
  }
  if (const auto key = keys_.find(entry.key); key != keys_.end()) keys_.erase(key);
  if (entry.id) by_id_.erase(*entry.id);
  // A hand-made event may have the id of another creation.
  const auto created = by_file_.find(entry.operation.file);
  if (created != by_file_.end() && created->second == ticket) by_file_.erase(created);
  for (const std::string& path : made_by(entry.operation)) {
    auto [at, end] = by_case_.equal_range(case_folded(path));
    while (at != end && at->second != path) ++at;
    if (at != end) by_case_.erase(at);
  }
  if (entry.operation.group) --groups_;
  commits_.erase(ticket);
  entries_.erase(found);
}

void PendingOperations::begin(EventId id) {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) entries_.at(found->second).begun = true;
}

void PendingOperations::give_back(EventId id) {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) entries_.at(found->second).begun = false;
}

void PendingOperations::end(EventId id) {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) drop(found->second);
}

void PendingOperations::end_group(const FolderOperation& group) {
  std::vector<OperationTicket> tickets;
  for (const auto& [ticket, entry] : entries_) {
    if (entry.operation.group == group) tickets.push_back(ticket);
  }
  for (const OperationTicket ticket : tickets) drop(ticket);
}

const PendingOperation* PendingOperations::last_at(std::string_view path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : &entries_.at(*found->second.rbegin());
}

// by_path_ is sorted, so the paths inside `path` are a range that begins at "path/".
bool PendingOperations::is_touched_since(const std::string& path, OperationTicket ticket) const {
  const auto is_later = [&](std::string_view other) {
    const PendingOperation* last = last_at(other);
    return last != nullptr && last->ticket > ticket;
  };
  if (is_later(path)) return true;
  const auto folders = folders_of(path);
  if (std::any_of(folders.begin(), folders.end(), is_later)) return true;
  const std::string first = path + "/";
  for (auto at = by_path_.lower_bound(first); at != by_path_.end() && at->first.starts_with(first); ++at) {
    if (*at->second.rbegin() > ticket) return true;
  }
  return false;
}

bool PendingOperations::is_last(const PendingOperation& entry, const Operation& instead) const {
  if (commits_.upper_bound(entry.ticket) != commits_.end()) return false;
  const auto is_free = [&](const std::string& path) { return !is_touched_since(path, entry.ticket); };
  const auto paths = paths_of(entry.operation);
  const auto others = paths_of(instead);
  return std::all_of(paths.begin(), paths.end(), is_free) &&
         std::all_of(others.begin(), others.end(), is_free);
}

std::string PendingOperations::free_key(const std::string& path) const {
  std::size_t size = std::min(path.size(), kKeyPath);
  // Do not cut inside a UTF-8 character.
  while (size < path.size() && (static_cast<unsigned char>(path[size]) & 0xC0U) == 0x80U) --size;
  std::string key = path.substr(0, size);
  if (path.size() <= kKeyPath && !keys_.contains(key)) return key;
  for (std::size_t n = 2;; ++n) {
    std::string numbered = key + " (" + std::to_string(n) + ")";
    if (!keys_.contains(numbered)) return numbered;
  }
}

std::optional<bool> PendingOperations::exists(std::string_view path) const {
  const PendingOperation* last = last_at(path);
  return last == nullptr ? std::nullopt : leaves(last->operation, path);
}

std::string PendingOperations::path_like(const std::string& path) const {
  const auto [begin, end] = by_case_.equal_range(case_folded(path));
  const auto other = std::find_if(begin, end, [&](const auto& entry) { return entry.second != path; });
  return other == end ? "" : other->second;
}

void PendingOperations::each_within(const std::string& folder,
                                    const std::function<void(const std::string&, bool)>& visit) const {
  const std::string first = folder + "/";
  for (auto at = by_path_.lower_bound(first); at != by_path_.end() && at->first.starts_with(first); ++at) {
    const PendingOperation& last = entries_.at(*at->second.rbegin());
    if (last.operation.folder) continue;
    if (const auto left = leaves(last.operation, at->first)) visit(at->first, *left);
  }
}

const PendingOperation* PendingOperations::creation_of(std::int64_t file) const {
  const auto found = by_file_.find(file);
  return found == by_file_.end() ? nullptr : &entries_.at(found->second);
}

// Follows the operations behind `ticket`.
std::string PendingOperations::path_after(std::string path, OperationTicket ticket) const {
  // Fast path: only a folder operation moves files that it does not name.
  if (groups_ == 0 && !by_path_.contains(path)) return path;
  for (auto at = entries_.upper_bound(ticket); at != entries_.end(); ++at) {
    const Operation& operation = at->second.operation;
    const bool of_group = operation.group && is_within(path, operation.group->source);
    if (operation.nothing || (!of_group && operation.source != path && operation.path != path)) continue;
    if (operation.kind == OperationKind::remove) return "";
    // A rename by another program arrives as a sync with a source.
    if (operation.kind != OperationKind::move && operation.kind != OperationKind::sync) continue;
    if (of_group) {
      path = operation.group->dest + path.substr(operation.group->source.size());
    } else if (operation.source == path) {
      path = operation.path;
    }
  }
  return path;
}

}  // namespace eventq::notebook
