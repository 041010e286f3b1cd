// git_support.h: owning handles for libgit2's C API, and its errors as Error values.
#pragma once

#include <git2.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "eventq/error.h"

namespace eventq::notebook::git {

template <typename T, void (*free_object)(T*)>
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Handle() { free_object(pointer_); }  // libgit2 accepts NULL

  T** out() { return &pointer_; }  // REQUIRES: the handle is empty
  operator T*() const { return pointer_; }

 private:
  T* pointer_ = nullptr;
};

using RepositoryHandle = Handle<git_repository, git_repository_free>;
using ReferenceHandle = Handle<git_reference, git_reference_free>;
using TransactionHandle = Handle<git_transaction, git_transaction_free>;
using CommitHandle = Handle<git_commit, git_commit_free>;
using TreeHandle = Handle<git_tree, git_tree_free>;
using BlobHandle = Handle<git_blob, git_blob_free>;
using IndexHandle = Handle<git_index, git_index_free>;
using ConfigHandle = Handle<git_config, git_config_free>;
using SignatureHandle = Handle<git_signature, git_signature_free>;
using DiffHandle = Handle<git_diff, git_diff_free>;
using OdbHandle = Handle<git_odb, git_odb_free>;
using PackBuilderHandle = Handle<git_packbuilder, git_packbuilder_free>;

// The entry of a path in a tree or an index.
struct Recorded {
  git_oid id;
  std::uint32_t mode;
  friend bool operator==(const Recorded& a, const Recorded& b) {
    return a.mode == b.mode && git_oid_equal(&a.id, &b.id) != 0;
  }
};

inline std::optional<Recorded> recorded(git_index* index, const std::string& path) {
  const git_index_entry* entry = git_index_get_bypath(index, path.c_str(), 0);
  if (entry == nullptr) git_error_clear();  // a missing entry is no error
  if (entry == nullptr) return std::nullopt;
  return Recorded{entry->id, entry->mode};
}

// The error of the last failed libgit2 call in this thread. Some calls set no message; then errno is used.
inline Error failure(const std::string& doing) {
  const git_error* last = git_error_last();
  const std::string why = last == nullptr ? std::strerror(errno) : last->message;
  if (why.find(std::strerror(ENOSPC)) != why.npos || why.find(std::strerror(EDQUOT)) != why.npos) {
    return {ErrorCode::no_space, "The disk is full; nothing was changed. Free some space and try again."};
  }
  return {ErrorCode::unavailable, "Git cannot " + doing + ": " + why + "."};
}

inline Error system_failure(const std::string& doing) {
  return {ErrorCode::unavailable, "Git cannot " + doing + ": " + std::strerror(errno) + "."};
}

}  // namespace eventq::notebook::git
