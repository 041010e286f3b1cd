// cloud_events.cc: see cloud_events.h.
//
// An event's `attributes` is a JSON object of the attributes as sent. Its member "data", which cannot be an
// attribute's name, says how the payload was sent when it was not JSON: "base64" or "none". It is "native"
// for an event that is not a CloudEvent; see model/event_context.h.
#include "wire/cloud_events.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/numbers.h"
#include "base/percent.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "eventq/limits.h"
#include "model/event_context.h"
#include "model/names.h"
#include "model/tags.h"
#include "model/validate.h"
#include "wire/event_fields.h"
#include "wire/fields.h"
#include "wire/queue_requests.h"

namespace eventq::wire {
namespace {

constexpr std::string_view kBase64 = "base64";
constexpr std::string_view kNone = "none";

constexpr std::string_view kRequired[] = {"specversion", "id", "source", "type"};

// Attributes that must be non-empty strings.
constexpr std::string_view kTexts[] = {
    "specversion",  "id",           "source",      "type",        "subject",
    "time",         "dataschema",   "tags",        "queue",       "datacontenttype",
    "partitionkey", "supersedekey", "causationid", "description", "correlationid",
    "traceparent",  "tracestate",   "publishedby"};

constexpr std::string_view kIntegers[] = {"priority", "maxretries"};

// Attributes of a delivery. They are written for each delivery and ignored when a publisher sends them.
constexpr std::string_view kOfDelivery[] = {"eventqid", "eventqattempt", "eventqleaseuntil"};

// Attributes that are written from fields of the event, so `attributes` need not hold them.
constexpr std::string_view kFromFields[] = {"specversion",  "source",       "type",
                                            "partitionkey", "supersedekey", "correlationid",
                                            "causationid",  "description",  "publishedby"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// ---- Attributes

struct Attribute {
  std::string name;
  std::string json;                 // the value as JSON
  std::optional<std::string> text;  // the value, when it is a string
};

Attribute text_attribute(std::string_view name, std::string_view text) {
  Attribute attribute{std::string(name), {}, std::string(text)};
  append_json_string(attribute.json, text);
  return attribute;
}

bool is_attribute_name(std::string_view name) {
  return !name.empty() && name != "data" &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); });
}

std::optional<Error> bad_name(std::string_view name) {
  if (is_attribute_name(name)) return std::nullopt;
  // A long name is not quoted, because it could be cut inside a character.
  const std::string quoted = name.size() <= 64 ? "\"" + std::string(name) + "\"" : "A name";
  return invalid(name, quoted +
                           " cannot be an attribute of a CloudEvent: names are made of a-z and 0-9, and "
                           "\"data\" is none.");
}

std::optional<Error> bad_value(const Attribute& attribute) {
  const std::string& name = attribute.name;
  if (attribute.text && has_control(*attribute.text)) {
    return invalid(name, name + " holds a control character, which a CloudEvent's attributes may not.");
  }
  if (!is_one_of(kTexts, name)) return std::nullopt;
  if (!attribute.text) return invalid(name, name + " must be a string.");
  if (attribute.text->empty()) return invalid(name, name + " is empty; leave it out or give it a value.");
  return std::nullopt;
}

class Attributes {
 public:
  // REQUIRES: there is no attribute with this name. Not checked, because a search for each of very many
  // attributes would be quadratic.
  Result<void> add(Attribute attribute) {
    if (auto fault = bad_value(attribute)) return *fault;
    if (!is_one_of(kOfDelivery, attribute.name)) all_.push_back(std::move(attribute));
    return {};
  }

  [[nodiscard]] const Attribute* find(std::string_view name) const {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const auto& it) { return it.name == name; });
    return found == all_.end() ? nullptr : &*found;
  }

  // REQUIRES: `name` is one of kTexts.
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const {
    const Attribute* attribute = find(name);
    return attribute ? attribute->text : std::nullopt;
  }

  [[nodiscard]] const std::vector<Attribute>& all() const { return all_; }

 private:
  std::vector<Attribute> all_;
};

// A whole number. It may be written as a string, because a gateway that converts headers to JSON leaves
// numbers as strings.
Result<std::optional<int>> integer_of(const Attributes& attributes, std::string_view name) {
  const Attribute* attribute = attributes.find(name);
  if (!attribute) return std::optional<int>();
  const auto number = parse_whole_signed<int>(attribute->text ? *attribute->text : attribute->json);
  if (!number) return invalid(name, std::string(name) + " must be a whole number.");
  return number;
}

// ---- Single values

struct Data {
  std::string payload = "null";
  std::string_view sent_as = kNone;  // kBase64, kNone, or empty: as JSON
};

// The first `most` characters of a text.
// REQUIRES: `text` is valid UTF-8.
std::string_view first_chars(std::string_view text, std::size_t most) {
  std::size_t chars = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && ++chars > most) return text.substr(0, at);
  }
  return text;
}

// A tag made from a type: '-' replaces each character that tags may not have.
std::string tag_of(std::string_view type) {
  std::string tag;
  for (const char c : first_chars(type, limits::kTagChars)) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (!continues) tag += is_name({&c, 1}) ? c : '-';
  }
  return tag;
}

// CloudEvents guarantees only that source and id together are unique. They are joined by '#', unless the
// source contains '#': then the joined text would be ambiguous, and a hash is used.
std::string event_id_of(std::string_view source, std::string_view id) {
  std::string joined = std::string(source) + "#" + std::string(id);
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  const bool fits = joined.size() <= limits::kEventIdChars && source.find('#') == std::string_view::npos &&
                    std::all_of(joined.begin(), joined.end(), is_visible);
  return fits ? joined : "ce_" + fingerprint({source, id});
}

// Parses RFC 3339 with any offset and any number of fraction digits. Digits below a millisecond are dropped.
std::optional<TimePoint> parse_time(std::string_view text) {
  constexpr std::size_t kSeconds = 19;  // "2018-04-05T17:31:00"
  if (text.size() <= kSeconds) return std::nullopt;
  std::string utc(text.substr(0, kSeconds));
  if (utc[10] == 't') utc[10] = 'T';
  std::string_view rest = text.substr(kSeconds);
  if (rest.front() == '.') {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    utc += rest.substr(0, std::min<std::size_t>(end, 4));
    rest.remove_prefix(end);
  }
  const auto time = parse_iso_time(utc + "Z");
  if (!time || rest == "Z" || rest == "z") return time;

  if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-')) return std::nullopt;
  // The offset has the format of a time of day, so parse_iso_time() checks its range.
  const auto midnight = parse_iso_time("1970-01-01T00:00:00Z");
  const auto shifted = parse_iso_time("1970-01-01T" + std::string(rest.substr(1)) + ":00Z");
  if (!shifted) return std::nullopt;
  const Millis offset = *shifted - *midnight;
  return rest[0] == '+' ? *time - offset : *time + offset;
}

// ---- Attributes and data to an event

// The error with the attribute's name in place of the field's, because the sender knows only attributes.
Error in_their_words(Error error) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"pattern", "type"},
                                                                      {"source.id", "source"},
                                                                      {"title", "subject"},
                                                                      {"payload", "data"},
                                                                      {"max_retries", "maxretries"},
                                                                      {"ordering_key", "partitionkey"},
                                                                      {"supersede_key", "supersedekey"},
                                                                      {"correlation_id", "correlationid"},
                                                                      {"causation_id", "causationid"},
                                                                      {"published_by", "publishedby"}};
  for (const auto& [ours, theirs] : kNames) {
    if (error.field != ours) continue;
    if (error.message.starts_with(ours)) error.message.replace(0, ours.size(), theirs);
    error.field = theirs;
    break;
  }
  return error;
}

// The event's `attributes` as described at the top of this file.
std::string stored_attributes(const Attributes& attributes, const Data& data) {
  return json_text([&](JsonWriter& json) {
    json.begin_object();
    if (!data.sent_as.empty()) json.key("data").string(data.sent_as);
    for (const Attribute& attribute : attributes.all()) {
      if (!is_one_of(kFromFields, attribute.name)) json.key(attribute.name).raw(attribute.json);
    }
    json.end_object();
  });
}

std::optional<Error> bad_envelope(const Attributes& attributes) {
  for (const std::string_view name : kRequired) {
    if (attributes.find(name)) continue;
    return invalid(name,
                   std::string(name) + " is missing; a CloudEvent has specversion, id, source and type.");
  }
  if (attributes.text("specversion") == "1.0") return std::nullopt;
  return invalid("specversion",
                 "specversion must be \"1.0\": no other version of CloudEvents is understood.");
}

// Reads the optional attributes that become fields of the event.
std::optional<Error> read_extensions(const Attributes& attributes, NewEvent& event) {
  const auto priority = integer_of(attributes, "priority");
  if (!priority) return priority.error();
  const auto max_retries = integer_of(attributes, "maxretries");
  if (!max_retries) return max_retries.error();
  event.priority = priority->value_or(0);
  event.max_retries = *max_retries;
  if (const auto tags = attributes.text("tags")) event.tags = split_tags(*tags);
  event.queue = attributes.text("queue").value_or(event.queue);
  event.description = attributes.text("description");
  event.ordering_key = attributes.text("partitionkey").value_or("");
  event.supersede_key = attributes.text("supersedekey").value_or("");
  event.correlation_id = attributes.text("correlationid").value_or("");
  event.causation_id = attributes.text("causationid").value_or("");
  event.trace_id = trace_id_of(attributes.text("traceparent").value_or(""));
  event.published_by = attributes.text("publishedby").value_or("");
  return std::nullopt;
}

Result<NewEvent> make_event(const Attributes& attributes, Data data) {
  if (auto fault = bad_envelope(attributes)) return *fault;
  const std::string type = *attributes.text("type");
  const std::string source = *attributes.text("source");
  NewEvent event;
  event.title = first_chars(attributes.text("subject").value_or(type), limits::kTitleChars);
  event.tags = {tag_of(type)};  // unless read_extensions() finds the attribute `tags`
  event.event_id = event_id_of(source, *attributes.text("id"));
  event.pattern = type;
  event.source = {.type = "cloudevents", .id = source, .name = {}};
  if (const auto time = attributes.text("time")) {
    event.timestamp = parse_time(*time);
    if (!event.timestamp) {
      return invalid("time", "time must be a time of RFC 3339, such as \"2025-12-24T10:30:00Z\".");
    }
  }
  if (auto fault = read_extensions(attributes, event)) return *fault;
  event.attributes = stored_attributes(attributes, data);
  event.payload = std::move(data.payload);
  if (auto fault = validate(event)) return in_their_words(*fault);
  return event;
}

// ---- The JSON format

bool is_base64(std::string_view text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view digits = text.substr(0, text.size() - padding);
  return text.size() % 4 == 0 && std::all_of(digits.begin(), digits.end(), [](char c) {
           return is_alphanumeric(c) || c == '+' || c == '/';
         });
}

Result<void> read_data(const JsonMember& member, Data& data) {
  const bool is_json = member.name == "data";
  const JsonValue& value = member.value;
  if (!is_json && value.type() == JsonType::null) return {};
  if (data.sent_as != kNone) {
    return invalid(member.name, "data and data_base64 are both there; a CloudEvent has one of them or none.");
  }
  if (!is_json && !is_base64(value.string().value_or("?"))) {
    return invalid(member.name, "data_base64 must be a string of base64 with its padding, such as \"aGk=\".");
  }
  data = {std::string(value.raw()), is_json ? std::string_view() : kBase64};
  return {};
}

Result<void> read_member(const JsonMember& member, Attributes& attributes) {
  const std::string name(member.name);
  if (auto fault = bad_name(name)) return *fault;
  const JsonValue& value = member.value;
  if (value.type() == JsonType::null) return {};
  Attribute attribute{name, std::string(value.raw()), std::nullopt};
  if (value.type() == JsonType::string) {
    attribute.text = value.string();
  } else if (value.type() != JsonType::boolean && !parse_whole_signed<std::int32_t>(value.raw())) {
    return invalid(name, name +
                             " must be a string, true, false or a whole number of 32 bits: a CloudEvent's "
                             "attributes have no other values.");
  }
  return attributes.add(std::move(attribute));
}

Result<NewEvent> parse_at(const JsonValue& value, const std::string& where) {
  if (value.type() != JsonType::object) return at(where, invalid("", "A CloudEvent is a JSON object."));
  Attributes attributes;
  Data data;
  for (const JsonMember& member : value.members()) {
    const bool is_data = member.name == "data" || member.name == "data_base64";
    const auto done = is_data ? read_data(member, data) : read_member(member, attributes);
    if (!done) return at(where, done.error());
  }
  auto event = make_event(attributes, std::move(data));
  if (!event) return at(where, event.error());
  return event;
}

// ---- Headers and body

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower);
  return out;
}

// "application/json" of " Application/JSON; charset=utf-8".
std::string media_type(std::string_view content_type) {
  return lower(trim(content_type.substr(0, content_type.find(';'))));
}

bool is_json_type(std::string_view content_type) {
  const std::string type = media_type(content_type);
  return type.ends_with("/json") || (type.ends_with("+json") && type.find('/') != std::string::npos);
}

// Whether the charset is UTF-8 or ASCII. Text in another charset may be valid UTF-8 by chance and would then
// be read wrongly.
bool may_be_utf8(std::string_view content_type) {
  const std::string type = lower(content_type);
  const std::size_t found = type.find("charset=");
  if (found == std::string::npos) return true;
  std::string_view charset = std::string_view(type).substr(found + 8);
  if (charset.starts_with('"')) charset.remove_prefix(1);
  charset = charset.substr(0, charset.find_first_of("\"; \t"));
  return charset == "utf-8" || charset == "us-ascii";
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) out += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

// Removes the quotes of a quoted header value, and the backslashes that escape characters in it.
std::string unquote(std::string_view value) {
  if (value.size() < 2 || !value.starts_with('"') || !value.ends_with('"')) return std::string(value);
  std::string out;
  for (std::size_t at = 1; at + 1 < value.size(); ++at) {
    if (value[at] == '\\' && at + 2 < value.size()) ++at;
    out += value[at];
  }
  return out;
}

Result<Attribute> read_header(std::string_view sent_name, std::string_view sent_value) {
  const std::string name = lower(sent_name);
  if (name == "datacontenttype") {
    return invalid(name, "ce-datacontenttype must not be sent: Content-Type says what the data is.");
  }
  if (auto fault = bad_name(name)) return *fault;
  const auto value = percent_decode(unquote(sent_value), PlusIs::literal);
  if (!value) {
    return invalid(name,
                   "ce-" + name + " must be percent-encoded UTF-8: \"%20\" for a space, \"%25\" for \"%\".");
  }
  Attribute attribute = text_attribute(name, *value);
  // Header values have no types, but the type of these attributes is known.
  if (is_one_of(kIntegers, name) && parse_whole_signed<int>(*value)) attribute.json = *value;
  return attribute;
}

Result<Data> read_body(std::string_view content_type, std::string_view body, JsonParser& parser) {
  if (body.empty()) return Data{};
  Data data{{}, {}};
  if (is_json_type(content_type)) {
    const auto value = parser.parse(body);
    if (!value) return value.error();
    data.payload = value->raw();
  } else if (valid_utf8(body) && may_be_utf8(content_type)) {
    append_json_string(data.payload, body);
  } else {
    data = {"\"" + base64(body) + "\"", kBase64};
  }
  return data;
}

// ---- Events to CloudEvents

// Writes the extension attributes of kFromFields, except description and publishedby.
void write_keys(JsonWriter& json, const Event& event) {
  write_set(json, "partitionkey", event.ordering_key);
  write_set(json, "supersedekey", event.supersede_key);
  write_set(json, "correlationid", event.correlation_id);
  write_set(json, "causationid", event.causation_id);
}

void write_delivery(JsonWriter& json, const Claim* claim) {
  if (!claim) return;
  json.key("eventqid").string(id_text(claim->event.id));
  json.key("eventqattempt").integer(claim->event.attempts);
  json.key("eventqleaseuntil").time(claim->lease_until);
}

// Writes an event that was not published as a CloudEvent.
void write_native(JsonWriter& json, const Event& event, const Claim* claim) {
  std::string subject = event.title;
  for (char& c : subject) c = has_control({&c, 1}) ? ' ' : c;
  json.begin_object().key("specversion").string("1.0");
  json.key("type").string(event.pattern.empty() ? "eventq.event" : event.pattern);
  json.key("source").string(event.source.id.empty() ? "/queues/" + event.queue : event.source.id);
  json.key("id").string(event.event_id).key("subject").string(subject).key("time").time(event.timestamp);
  json.key("datacontenttype").string("application/json");
  json.key("tags").string(join_tags(event.tags)).key("queue").string(event.queue);
  if (event.priority != 0) json.key("priority").integer(event.priority);
  write_keys(json, event);
  write_set(json, "traceid", event.trace_id);
  const EventContext context = context_of(event);
  write_set(json, "traceparent", context.traceparent);
  write_set(json, "tracestate", context.tracestate);
  write_set(json, "publishedby", context.published_by);
  write_delivery(json, claim);
  json.key("data").raw(event.payload).end_object();
}

// The id of the CloudEvent. A replayed copy of the event has another event_id, so it is another CloudEvent.
std::string_view id_of(const Event& event, const std::vector<JsonMember>& members) {
  for (const auto& [name, value] : members) {
    if (name != "id") continue;
    const std::string_view id = value.string().value_or("");
    if (event_id_of(event.source.id, id) == event.event_id) return id;
  }
  return event.event_id;
}

// Writes an event that was published as a CloudEvent.
void write_returned(JsonWriter& json, const Event& event, const std::vector<JsonMember>& members,
                    const Claim* claim) {
  json.begin_object().key("specversion").string("1.0");
  json.key("type").string(event.pattern).key("source").string(event.source.id);
  json.key("id").string(id_of(event, members));
  std::string_view sent_as;
  for (const auto& [name, value] : members) {
    if (name == kDataMember) sent_as = value.string() == kBase64 ? kBase64 : kNone;
    if (name == "published_by") json.key("publishedby").raw(value.raw());
    if (name != "id" && is_attribute_name(name)) json.key(name).raw(value.raw());
  }
  write_keys(json, event);
  if (event.description) json.key("description").string(*event.description);
  write_delivery(json, claim);
  if (sent_as != kNone) json.key(sent_as == kBase64 ? "data_base64" : "data").raw(event.payload);
  json.end_object();
}

// Attributes that cannot be parsed are ignored, because they must not keep the event from its worker.
void write(JsonWriter& json, const Event& event, const Claim* claim, JsonParser& parser) {
  if (event.attributes.empty()) return write_native(json, event, claim);
  const auto attributes = parser.parse(event.attributes);
  const bool is_object = attributes && attributes->type() == JsonType::object;
  if (!is_object) return write_native(json, event, claim);
  const std::vector<JsonMember> members = attributes->members();
  const bool native = std::any_of(members.begin(), members.end(), [](const JsonMember& member) {
    return member.name == kDataMember && member.value.string() == kNativeData;
  });
  if (native) return write_native(json, event, claim);
  write_returned(json, event, members, claim);
}

}  // namespace

std::optional<BodyFormat> body_format(std::string_view content_type, bool has_specversion_header) {
  const std::string type = media_type(content_type);
  if (type == "application/cloudevents+json") return BodyFormat::cloud_event;
  if (type == "application/cloudevents-batch+json") return BodyFormat::cloud_events;
  if (type.starts_with("application/cloudevents")) return std::nullopt;
  return has_specversion_header ? BodyFormat::cloud_event_binary : BodyFormat::json;
}

Result<NewEvent> parse_cloud_event(const JsonValue& body) { return parse_at(body, ""); }

Result<std::vector<NewEvent>> parse_cloud_events(const JsonValue& body) {
  if (body.type() != JsonType::array) return invalid("", "A batch of CloudEvents is a JSON array.");
  const std::vector<JsonValue> values = body.elements();
  if (values.empty()) return invalid("", "The batch is empty; 1 to 10000 CloudEvents are needed.");
  if (values.size() > limits::kBatchEvents) {
    return Error{
        ErrorCode::too_large,
        "The batch has " + std::to_string(values.size()) + " CloudEvents; at most 10000 are allowed.", ""};
  }
  std::vector<NewEvent> events;
  events.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto event = parse_at(values[i], "[" + std::to_string(i) + "].");
    if (!event) return event.error();
    events.push_back(std::move(*event));
  }
  return events;
}

Result<NewEvent> parse_binary_cloud_event(std::span<const std::pair<std::string, std::string>> attributes,
                                          std::string_view content_type, std::string_view body,
                                          JsonParser& parser) {
  Attributes read;
  for (const auto& [name, value] : attributes) {
    auto attribute = read_header(name, value);
    if (!attribute) return attribute.error();
    // The JSON parser refuses a member that is sent twice; a header must be checked here.
    if (read.find(attribute->name))
      return invalid(attribute->name, "ce-" + attribute->name + " is given twice.");
    if (auto done = read.add(std::move(*attribute)); !done) return done.error();
  }
  // Content-Type is stored and delivered as the JSON string datacontenttype, so it must be UTF-8. Every body
  // gets this attribute, because CloudEvents defines data without it as JSON.
  if (!valid_utf8(content_type)) return invalid("datacontenttype", "Content-Type is not valid UTF-8.");
  if (content_type.empty() && !body.empty()) content_type = "application/octet-stream";
  if (!content_type.empty()) {
    if (auto done = read.add(text_attribute("datacontenttype", content_type)); !done) return done.error();
  }
  auto data = read_body(content_type, body, parser);
  if (!data) return data.error();
  return make_event(read, std::move(*data));
}

void write_cloud_event(JsonWriter& json, const Event& event) {
  JsonParser parser;
  write(json, event, nullptr, parser);
}

void write_cloud_event(JsonWriter& json, const Claim& claim) {
  JsonParser parser;
  write(json, claim.event, &claim, parser);
}

void write_cloud_events(JsonWriter& json, const std::vector<Event>& events) {
  JsonParser parser;
  json.begin_array();
  for (const Event& event : events) write(json, event, nullptr, parser);
  json.end_array();
}

void write_cloud_events(JsonWriter& json, const std::vector<Claim>& claims) {
  JsonParser parser;
  json.begin_array();
  for (const Claim& claim : claims) write(json, claim.event, &claim, parser);
  json.end_array();
}

}  // namespace eventq::wire
