// json_peer_test.cc: compares the parser with simdjson's second stage on random texts.
//
// They may differ in two points only: our parser accepts numbers of any size, and refuses duplicate members.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <random>
#include <string>
#include <string_view>

#include "base/json.h"

namespace eventq {
namespace {

constexpr std::array<std::string_view, 48> kPieces = {
    "{",         "}",        "[",         "]",        ",",    ":",     "\"a\"",   "\"b\"",
    "\"\"",      "1",        "-1",        "-0",       "1.5",  "1e5",   "01",      "-",
    "1.",        "1e",       "true",      "false",    "null", "tru",   "\"\\n\"", "\"\\u0061\"",
    "\"\\ud8",   "00\"",     "\"\\udc00", "\\udc00",  " ",    "\n",    "\t",      "\f",
    "\x1A",      "\\",       "\"",        "\xC3\xA9", "\xC3", "\xFF",  "/",       "\"\\x\"",
    "{\"a\":1}", "{\"c\":[", "}]",        "\"\x01\"", "+1",   "1e400", "NaN",     "\xED\xA0\x80"};

constexpr std::string_view kValid =
    R"({"title":"hello","tags":["a","b"],"payload":{"n":1.25e-3,"list":[true,null,{"c":"x\ny"}]}})";

// Random pieces in any order, or a valid text with a few random pieces inserted.
std::string random_text(std::mt19937_64& random) {
  const bool is_soup = random() % 2 == 0;
  std::string text(is_soup ? "" : kValid);
  const std::size_t count = 1 + random() % (is_soup ? 10 : 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = is_soup ? text.size() : random() % (text.size() + 1);
    const std::size_t erased = is_soup ? 0 : random() % 3;
    text.replace(at, erased, kPieces[random() % kPieces.size()]);
    if (random() % 8 == 0) text.insert(at, std::string(random() % 70, ' '));
  }
  return text;
}

enum class Verdict : std::uint8_t { valid, large_number, refused };

Verdict verdict_of_peer(simdjson::dom::parser& peer, const std::string& text) {
  const simdjson::error_code code = peer.parse(text).error();
  if (code == simdjson::SUCCESS) return Verdict::valid;
  return code == simdjson::NUMBER_ERROR ? Verdict::large_number : Verdict::refused;
}

bool may_differ(Verdict peer, const Result<JsonValue>& ours) {
  if (ours) return peer == Verdict::large_number;
  return ours.error().message.find("duplicate member") != std::string::npos;
}

TEST(JsonParser, AgreesWithItsPeerOnRandomTexts) {
  std::mt19937_64 random(20251224);
  simdjson::dom::parser peer;
  JsonParser parser;
  int valid = 0;

  for (int i = 0; i < 100'000; ++i) {
    const std::string text = random_text(random);
    const Verdict verdict = verdict_of_peer(peer, text);
    const auto ours = parser.parse(text);
    ASSERT_TRUE(ours.has_value() == (verdict == Verdict::valid) || may_differ(verdict, ours)) << text;
    valid += ours ? 1 : 0;
  }

  EXPECT_GT(valid, 5'000);
}

}  // namespace
}  // namespace eventq
