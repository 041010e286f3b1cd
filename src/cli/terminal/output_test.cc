// output_test.cc: tests of output.h.
#include "cli/terminal/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "base/time_text.h"
#include "cli/terminal/terminal_text.h"
#include "support/manual_clock.h"

namespace eventq::cli {
namespace {

using Kind = CellKind;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<OutputColumn> kColumns = {{"ID", "id", Kind::number},
                                            {"STATUS", "status", Kind::status},
                                            {"TITLE", "title"},
                                            {"UPDATED", "updated_at", Kind::time},
                                            {"TOOK", "took", Kind::duration}};

constexpr const char* kOne =
    R"({"id":1,"status":"FAILED","title":"Mail","updated_at":"2026-01-01T11:57:00.000Z","took":1500,"payload":{"to":"a@b"}})";
constexpr const char* kTwo =
    R"({"id":12,"status":"PENDING","title":"東京","updated_at":"2026-01-01T12:04:00.000Z","payload":null})";

class OutputTest : public testing::Test {
 protected:
  std::string print(const std::vector<std::string>& records) {
    std::ostringstream out;
    RecordPrinter printer(out, options_, kColumns);
    for (const std::string& record : records) printer.add(record);
    printer.finish();
    return out.str();
  }

  std::string print_one(const std::string& record) {
    std::ostringstream out;
    print_record(out, options_, record);
    return out.str();
  }

  void on_terminal(std::size_t width) {
    options_.format = Format::table;
    options_.terminal = true;
    options_.time = TimeFormat::relative;
    options_.width = width;
  }

  ManualClock clock_{*parse_iso_time("2026-01-01T12:00:00Z")};
  OutputOptions options_{.clock = &clock_};
};

TEST_F(OutputTest, PrintsJsonLinesUnchanged) {
  EXPECT_EQ(print({kOne, kTwo}), std::string(kOne) + "\n" + kTwo + "\n");
  EXPECT_EQ(print({}), "");
}

TEST_F(OutputTest, JsonFormatPrintsOneArray) {
  options_.format = Format::json;

  EXPECT_EQ(print({kOne, kTwo}), "[\n" + std::string(kOne) + ",\n" + kTwo + "\n]\n");
  EXPECT_EQ(print({}), "[]\n");
}

TEST_F(OutputTest, ARecordWithLineEndsIsPrintedOnOneLine) {
  EXPECT_EQ(print({"{\"payload\":{\n\t\"a\": 1\r\n}}"}), "{\"payload\":{  \"a\": 1  }}\n");
}

TEST_F(OutputTest, PrintsOnlyTheSelectedFields) {
  options_.fields = {"id", "payload.to", "nothing"};

  EXPECT_EQ(print({kOne, kTwo}),
            "{\"id\":1,\"payload.to\":\"a@b\",\"nothing\":null}\n"
            "{\"id\":12,\"payload.to\":null,\"nothing\":null}\n");
  options_.format = Format::csv;
  EXPECT_EQ(print({kOne, kTwo}), "id,payload.to,nothing\n1,a@b,\n12,,\n");
  options_.format = Format::table;
  EXPECT_EQ(print({kOne, kTwo}), "ID  payload.to  nothing\n 1  a@b         -\n12  -           -\n");
}

TEST_F(OutputTest, CsvQuotesSpecialCharacters) {
  options_.format = Format::csv;
  options_.fields = {"title"};

  EXPECT_EQ(print({R"({"title":"a,b"})", R"({"title":"say \"x\""})", R"({"title":"two\nlines"})",
                   R"({"title":"plain text"})"}),
            "title\n\"a,b\"\n\"say \"\"x\"\"\"\n\"two\nlines\"\nplain text\n");
}

TEST_F(OutputTest, PrintsIds) {
  options_.format = Format::id;

  EXPECT_EQ(print({kOne, kTwo}), "1\n12\n");
}

TEST_F(OutputTest, AlignsTables) {
  options_.format = Format::table;

  EXPECT_EQ(print({kOne, kTwo}),
            "ID  STATUS   TITLE  UPDATED                      TOOK\n"
            " 1  FAILED   Mail   2026-01-01T11:57:00.000Z  1s500ms\n"
            "12  PENDING  東京   2026-01-01T12:04:00.000Z        -\n");
  EXPECT_EQ(print({}), "");
}

TEST_F(OutputTest, TimesOnATerminalAreRelative) {
  on_terminal(80);

  EXPECT_EQ(print({kOne, kTwo}),
            "ID  STATUS   TITLE  UPDATED       TOOK\n"
            " 1  FAILED   Mail   3 min ago  1s500ms\n"
            "12  PENDING  東京   in 4 min         -\n");
}

TEST_F(OutputTest, CutsTextsToTheWidthOfTheTerminal) {
  const std::string record = R"({"id":1,"status":"FAILED","title":")" + std::string(100, 'x') +
                             R"(","updated_at":"2026-01-01T11:57:00.000Z"})";
  for (const std::size_t width : {80U, 40U, 20U, 3U, 1U}) {
    on_terminal(width);
    std::istringstream lines(print({record}));
    std::string line;
    while (std::getline(lines, line)) EXPECT_LE(display_width(line), width) << line;
  }
  on_terminal(42);
  EXPECT_THAT(print({record}), HasSubstr(" 1  FAILED  xxxxxxxxxxxx…  3 min ago     -\n"));
}

TEST_F(OutputTest, NeverSendsControlCharactersToATerminal) {
  const std::string record =
      "{\"id\":1,\"title\":\"a\\u001b[2Jb\\u0007\",\"status\":\"\xc2\x9b"
      "31m\",\"x\\u001b\":\"\\u001b]0;\",\"payload\":{\"k\":\"\xc2\x9b\x7f\"}}";
  for (const Format format : {Format::table, Format::json, Format::jsonl, Format::csv, Format::id}) {
    on_terminal(200);
    options_.format = format;
    for (const std::string& shown : {print({record}), print_one(record)}) {
      EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
      EXPECT_THAT(shown, Not(HasSubstr("\a")));
      EXPECT_THAT(shown, Not(HasSubstr("\x7f")));
      EXPECT_THAT(shown, Not(HasSubstr("\xc2\x9b")));
    }
  }
}

TEST_F(OutputTest, ColoursStatusesOnlyIfEnabled) {
  on_terminal(80);
  EXPECT_THAT(print({kOne}), Not(HasSubstr("\x1b")));

  options_.color = true;
  EXPECT_THAT(print({kOne}), HasSubstr("\x1b[31mFAILED\x1b[0m"));
}

TEST_F(OutputTest, AlignsLaterRowsWithEarlierOnes) {
  options_.format = Format::table;
  options_.fields = {"title", "id"};
  std::ostringstream out;
  RecordPrinter printer(out, options_, kColumns);
  printer.add(R"({"title":"long title","id":1})");
  printer.flush();
  printer.add(R"({"title":"x","id":2})");
  printer.flush();
  printer.finish();

  EXPECT_EQ(out.str(), "TITLE       ID\nlong title   1\nx            2\n");
}

TEST_F(OutputTest, AnOptionalColumnIsPrintedIfARowHasAValueForIt) {
  on_terminal(80);
  const auto printed = [&](const std::vector<std::string>& records) {
    std::ostringstream out;
    RecordPrinter printer(
        out, options_, {{"ID", "id"}, {.heading = "ERROR", .field = "error", .optional = true}, {"X", "x"}});
    for (const std::string& record : records) printer.add(record);
    printer.finish();
    return out.str();
  };

  EXPECT_EQ(printed({R"({"id":1,"error":null})", R"({"id":2})"}), "ID  X\n1   -\n2   -\n");
  EXPECT_EQ(printed({R"({"id":1})", R"({"id":2,"error":"gone"})"}),
            "ID  ERROR  X\n1   -      -\n2   gone   -\n");
  options_.fields = {"id", "error"};
  EXPECT_EQ(printed({R"({"id":1,"error":null})"}), "ID  ERROR\n1   -\n");
}

TEST_F(OutputTest, PrintsOneMemberOfARecordPerLine) {
  on_terminal(80);

  EXPECT_EQ(
      print_one(
          R"({"id":1,"status":"FAILED","source":{"type":"x","id":"y"},"payload":{"a":{"b":1}},"worker_id":null,)"
          R"("created_at":"2026-01-01T11:57:00.000Z"})"),
      "id           1\n"
      "status       FAILED\n"
      "source.type  x\n"
      "source.id    y\n"
      "payload      {\"a\":{\"b\":1}}\n"
      "worker_id    -\n"
      "created_at   2026-01-01T11:57:00.000Z  3 min ago\n");
}

TEST_F(OutputTest, ADetailIsPrintedLineByLineAndAResultAsItIs) {
  const std::string record = R"({"id":1,"result":{"a": [1]},"error_detail":"first\n\tat \u001b[2J\nlast"})";

  on_terminal(80);

  EXPECT_EQ(print_one(record),
            "id            1\n"
            "result        {\"a\": [1]}\n"
            "error_detail  first\n"
            "                  at \\u001b[2J\n"
            "              last\n");
}

TEST_F(OutputTest, PrintsOneRecordInEveryFormat) {
  EXPECT_EQ(print_one(kOne), std::string(kOne) + "\n");
  options_.format = Format::json;
  EXPECT_EQ(print_one(kOne), std::string(kOne) + "\n");
  options_.format = Format::id;
  EXPECT_EQ(print_one(kOne), "1\n");
  options_.format = Format::csv;
  EXPECT_THAT(print_one(kOne), StartsWith("id,status,title,updated_at,took,payload\n1,FAILED,Mail,"));
  EXPECT_THAT(print_one(kOne), EndsWith(",1500,\"{\"\"to\"\":\"\"a@b\"\"}\"\n"));
}

TEST(RelativeTime, UsesALargerUnitForALongerTime) {
  const TimePoint now = *parse_iso_time("2026-01-10T00:00:00Z");
  struct Case {
    std::chrono::seconds ago;
    const char* text;
  };
  for (const Case& row :
       {Case{std::chrono::seconds(0), "now"}, Case{std::chrono::seconds(1), "1 s ago"},
        Case{std::chrono::seconds(59), "59 s ago"}, Case{std::chrono::seconds(60), "1 min ago"},
        Case{std::chrono::seconds(3599), "59 min ago"}, Case{std::chrono::seconds(3600), "1 h ago"},
        Case{std::chrono::hours(47), "47 h ago"}, Case{std::chrono::hours(48), "2 d ago"},
        Case{std::chrono::seconds(-240), "in 4 min"}}) {
    EXPECT_EQ(relative_time(now - row.ago, now), row.text);
  }
}

}  // namespace
}  // namespace eventq::cli
