// operation.cc: see operation.h.
#include "notebook/operation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/numbers.h"
#include "base/utf8.h"
#include "eventq/limits.h"
#include "notebook/files/note_path.h"
#include "wire/fields.h"

namespace eventq::notebook {
namespace {

using wire::Fields;
using Kind = OperationKind;

// Both are indexed by Kind.
constexpr std::array<std::string_view, 6> kPatterns = {
    "file.create", "file.update", "file.move", "file.delete", "file.sync", "file.batch_commit",
};
constexpr std::string_view kPrefix = "file.";
constexpr std::array<std::string_view, 6> kVerbs = {"Create", "Update", "Move", "Delete", "Sync", "Commit"};
constexpr std::string_view kFileSource = "file";
constexpr std::array<std::string_view, 4> kSyncEvents = {"created", "modified", "deleted", "moved"};

bool has_content(Kind kind) { return kind == Kind::create || kind == Kind::update; }
bool can_be_grouped(Kind kind) { return kind == Kind::move || kind == Kind::remove; }

// The text between the braces of a JSON object, without white space; empty for an object without members.
std::string_view inside(std::string_view object) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = object.find_first_not_of(kBlanks, object.find('{') + 1);
  const std::size_t last = object.find_last_not_of(kBlanks, object.rfind('}') - 1);
  return object[first] == '}' ? std::string_view() : object.substr(first, last + 1 - first);
}

void write_metadata(JsonWriter& json, const Metadata& metadata) {
  if (metadata == Metadata()) return;
  json.key("metadata").begin_object();
  if (metadata.title) json.key("title").string(*metadata.title);
  if (metadata.description) json.key("description").string(*metadata.description);
  if (!metadata.extra.empty()) {
    const std::string_view members = inside(metadata.extra);
    if (!members.empty()) json.raw(members);
  }
  json.end_object();
}

void write_group(JsonWriter& json, const FolderOperation& group) {
  json.key("group").begin_object().key("source_path").string(group.source);
  if (!group.dest.empty()) json.key("dest_path").string(group.dest);
  json.key("count").integer(group.count).end_object();
}

std::string read_path(Fields& fields, std::string_view name) {
  const auto text = fields.text(name);
  if (!text) {
    fields.refuse(name, std::string(name) + " is missing; it must be a path like \"notes/today.md\".");
    return "";
  }
  auto path = requested_path(*text);
  if (path) return std::move(*path);
  fields.refuse(wire::at(fields.path(name) + ".", {path.error().code, path.error().message}));
  return "";
}

// A path cannot move to itself or below itself.
void read_move_paths(Fields& fields, std::string& source, std::string& dest) {
  source = read_path(fields, "source_path");
  dest = read_path(fields, "dest_path");
  if (is_within(dest, source)) {
    fields.refuse("dest_path", "dest_path is source_path or inside it; it must be outside of source_path.");
  }
}

std::optional<FolderOperation> read_group(Fields& fields, Kind kind) {
  const auto value = fields.object("group");
  if (!value) return std::nullopt;
  FolderOperation group;
  Fields inner(*value, fields.path("group."));
  if (kind == Kind::move) {
    read_move_paths(inner, group.source, group.dest);
  } else {
    group.source = read_path(inner, "source_path");
  }
  group.count = inner.small_integer("count").value_or(0);
  if (group.count < 1)
    inner.refuse("count", "count is how many events are in the group; it must be 1 or more.");
  if (auto fault = inner.fault()) fields.refuse(*fault);
  return group;
}

// Whether the file keeps its path relative to the folder that moves.
bool is_in_group(const Operation& operation, const FolderOperation& group) {
  const bool moves = operation.kind == Kind::move;
  const std::string& before = moves ? operation.source : operation.path;
  if (!is_within(before, group.source)) return false;
  return !moves || operation.path == group.dest + before.substr(group.source.size());
}

void read_sync(Fields& fields, Operation& operation) {
  operation.path = read_path(fields, "path");
  operation.event = fields.text("event").value_or("");
  if (std::find(kSyncEvents.begin(), kSyncEvents.end(), operation.event) == kSyncEvents.end()) {
    fields.refuse("event", "event must be created, modified, deleted or moved.");
  }
  if (operation.event == "moved") operation.source = read_path(fields, "source_path");
}

Operation read_members(Fields& fields, Kind kind) {
  Operation operation{.kind = kind};
  if (kind == Kind::batch_commit) return operation;
  if (kind == Kind::move) {
    read_move_paths(fields, operation.source, operation.path);
  } else if (kind == Kind::sync) {
    read_sync(fields, operation);
  } else {
    operation.path = read_path(fields, "path");
  }
  if (has_content(kind)) {
    operation.content = fields.text("content");
    operation.metadata = read_metadata(fields);
  }
  if (kind != Kind::update) operation.folder = fields.boolean("is_directory").value_or(false);
  if (operation.folder && (operation.content || operation.metadata != Metadata())) {
    fields.refuse("is_directory", "A folder has neither content nor metadata; leave them out.");
  }
  if (can_be_grouped(kind)) operation.group = read_group(fields, kind);
  if (can_be_grouped(kind) || kind == Kind::update) operation.if_match = fields.text("if_match").value_or("");
  if (operation.group && !is_in_group(operation, *operation.group)) {
    fields.refuse("group",
                  "The file is not part of its group: its paths must be inside the group's, at the same "
                  "relative path.");
  }
  operation.nothing = fields.boolean("nothing").value_or(false);
  return operation;
}

}  // namespace

void Metadata::update(const Metadata& given) {
  if (given.title) title = given.title;
  if (given.description) description = given.description;
  if (!given.extra.empty()) extra = given.extra;
}

Metadata read_metadata(wire::Fields& fields) {
  Metadata metadata;
  const auto value = fields.object("metadata");
  if (!value) return metadata;
  Fields known(*value, fields.path("metadata."), wire::UnknownMembers::ignored);
  metadata.title = known.text("title");
  metadata.description = known.text("description");
  if (auto fault = known.fault()) fields.refuse(*fault);
  // Unknown members are stored as they were sent, so that a client gets them back unchanged.
  for (const JsonMember& member : value->members()) {
    if (member.name == "title" || member.name == "description") continue;
    metadata.extra += metadata.extra.empty() ? '{' : ',';
    append_json_string(metadata.extra, member.name);
    metadata.extra += ':';
    metadata.extra += member.value.raw();
  }
  if (!metadata.extra.empty()) metadata.extra += '}';
  return metadata;
}

std::string_view pattern_of(Kind kind) { return kPatterns.at(static_cast<std::size_t>(kind)); }

std::optional<Kind> kind_of(std::string_view pattern) {
  const auto* const found = std::find_if(kPatterns.begin(), kPatterns.end(), [&](std::string_view known) {
    return known == pattern || known.substr(kPrefix.size()) == pattern;
  });
  if (found == kPatterns.end()) return std::nullopt;
  return static_cast<Kind>(found - kPatterns.begin());
}

std::string write_operation(const Operation& operation) {
  std::string payload;
  JsonWriter json(payload);
  json.begin_object();
  if (operation.kind == Kind::move) {
    json.key("source_path").string(operation.source).key("dest_path").string(operation.path);
  } else if (operation.kind != Kind::batch_commit) {
    json.key("path").string(operation.path);
  }
  if (operation.kind == Kind::sync) {
    json.key("event").string(operation.event);
    if (!operation.source.empty()) json.key("source_path").string(operation.source);
  }
  if (has_content(operation.kind)) {
    if (operation.content) json.key("content").string(*operation.content);
    write_metadata(json, operation.metadata);
  }
  if (operation.folder) json.key("is_directory").boolean(true);
  if (operation.group) write_group(json, *operation.group);
  if (!operation.if_match.empty()) json.key("if_match").string(operation.if_match);
  if (operation.nothing) json.key("nothing").boolean(true);
  json.end_object();
  return payload;
}

Result<Operation> read_operation(std::string_view pattern, std::string_view payload) {
  const auto kind = kind_of(pattern);
  if (!kind) {
    std::string message = "There is no operation \"" + std::string(pattern) + "\"; there are ";
    for (const std::string_view known : kPatterns) {
      if (known == kPatterns.back())
        message += " and ";
      else if (known != kPatterns.front())
        message += ", ";
      message += known;
    }
    return wire::invalid("pattern", message + "; \"file.\" may be left out.");
  }
  JsonParser parser;
  const auto value = parser.parse(payload);
  if (!value) return value.error();
  Fields fields(*value, "");
  Operation operation = read_members(fields, *kind);
  if (auto fault = fields.fault()) return *fault;
  return operation;
}

Source source_of(const Operation& operation) {
  if (operation.file == 0) return {};
  return {.type = std::string(kFileSource), .id = std::to_string(operation.file)};
}

Result<Operation> operation_of(const Event& event) {
  auto operation = read_operation(event.pattern, event.payload);
  if (!operation) return operation;
  if (operation->kind == Kind::create && event.source.type == kFileSource) {
    operation->file = parse_whole<std::int64_t>(event.source.id).value_or(0);
  }
  return operation;
}

std::vector<std::string> paths_of(const Operation& operation) {
  if (operation.kind == Kind::batch_commit) return {};
  if (operation.source.empty()) return {operation.path};
  return {operation.source, operation.path};
}

std::string title_of(const Operation& operation) {
  std::string title(kVerbs.at(static_cast<std::size_t>(operation.kind)));
  if (operation.kind == Kind::batch_commit) return title;
  if (operation.folder) title += " folder";
  if (!operation.source.empty()) title += " " + operation.source + " to";
  title += " " + operation.path;
  // Cut at the limit for titles. The limit counts characters and the cut counts bytes, which are never fewer.
  if (utf8_chars(title) <= limits::kTitleChars) return title;
  constexpr std::string_view kMore = "…";
  return cut_utf8(std::move(title), limits::kTitleChars - kMore.size()).append(kMore);
}

}  // namespace eventq::notebook
