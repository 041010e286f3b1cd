// pattern_test.cc: which patterns are valid, and what they match.
#include "model/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "eventq/limits.h"

namespace eventq {
namespace {

using testing::HasSubstr;

TEST(Pattern, MatchesWordByWord) {
  struct Row {
    std::string pattern;
    std::string happened;
    bool fits;
  };
  const Row rows[] = {
      {"invoice.created", "invoice.created", true},
      {"invoice.created", "invoice.paid", false},
      {"invoice.created", "invoice.created.late", false},
      {"invoice.created", "invoice", false},
      {"invoice.created", "Invoice.created", false},
      {"invoice.created", "", false},
      {"invoice", "invoice", true},
      {"invoice.*", "invoice.created", true},
      {"invoice.*", "invoice", false},
      {"invoice.*", "invoice.", false},
      {"invoice.*", "invoice.line.added", false},
      {"invoice.*", "invoices.created", false},
      {"*.created", "invoice.created", true},
      {"*.created", "created", false},
      {"*.created", ".created", false},
      {"invoice.*.added", "invoice.line.added", true},
      {"invoice.*.added", "invoice.line.removed", false},
      {"invoice.*.added", "invoice..added", false},
      {"*", "invoice", true},
      {"*", "", false},
      {"*", "invoice.created", false},
      {"*.*", "invoice.created", true},
      {"invoice.>", "invoice.created", true},
      {"invoice.>", "invoice.line.added", true},
      {"invoice.>", "invoice", false},
      {"invoice.>", "invoice.", false},
      {"invoice.>", "invoice.line..added", false},
      {"invoice.>", "order.created", false},
      {"invoice.*.>", "invoice.line.added", true},
      {"invoice.*.>", "invoice.line", false},
      {">", "invoice", true},
      {">", "invoice.line.added", true},
      {">", "", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(pattern_fits(row.pattern, row.happened), row.fits) << row.pattern << " on " << row.happened;
  }
}

TEST(Pattern, IsRefusedWithTheReason) {
  struct Row {
    std::string pattern;
    std::string reason;
  };
  const Row rows[] = {
      {"", "empty word"},
      {".", "empty word"},
      {"invoice.", "empty word"},
      {".created", "empty word"},
      {"invoice..created", "empty word"},
      {"invoice.>.created", "before its last word"},
      {">.>", "before its last word"},
      {"invoice.cre*", "inside a word"},
      {"invoice.**", "inside a word"},
      {"invoice>", "inside a word"},
  };
  for (const Row& row : rows) {
    const auto fault = validate_pattern(row.pattern);
    ASSERT_TRUE(fault) << row.pattern;
    EXPECT_EQ(fault->code, ErrorCode::invalid_argument);
    EXPECT_EQ(fault->field, "pattern");
    EXPECT_THAT(fault->message, HasSubstr(row.reason)) << row.pattern;
  }
}

TEST(Pattern, IsAcceptedWhenEveryWordIsWhole) {
  for (const char* pattern : {"invoice", "invoice.created", "*", ">", "*.*", "a.*.b.>", "Größe.geändert"}) {
    EXPECT_EQ(validate_pattern(pattern).has_value(), false) << pattern;
  }
}

TEST(Pattern, MayHave200Bytes) {
  EXPECT_FALSE(validate_pattern(std::string(limits::kPattern - 1, 'a')));
  EXPECT_FALSE(validate_pattern(std::string(limits::kPattern, 'a')));
  EXPECT_EQ(validate_pattern(std::string(limits::kPattern + 1, 'a'))->code, ErrorCode::too_large);
}

}  // namespace
}  // namespace eventq
