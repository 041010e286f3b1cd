// archive_files_test.cc: tests of archive_files.h, read back by zcat and our own parser.
#include "retention/archive_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "support/temporary_directory.h"
#include "wire/answer_json.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimePoint kMidnight = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + 23h + 59min + 59s;
constexpr const char* kName = "events-2026-01-31.ndjson.gz";
constexpr const char* kSecondName = "events-2026-01-31.2.ndjson.gz";

Details ended(std::int64_t id, const std::string& payload = "null") {
  Details details;
  details.event.id = EventId{id};
  details.event.event_id = "evt_" + std::to_string(id);
  details.event.queue = "main";
  details.event.title = "mail";
  details.event.payload = payload;
  details.event.status = Status::completed;
  details.log = {{.log_id = LogId{id * 10}, .id = EventId{id}, .action = Action::completed}};
  return details;
}

std::vector<Details> ended(std::int64_t first, std::int64_t last) {
  std::vector<Details> events;
  for (std::int64_t id = first; id <= last; ++id) events.push_back(ended(id));
  return events;
}

// A payload that cannot be compressed.
std::string noise(std::size_t size) {
  std::string text = "\"";
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1664525 + 1013904223;
    text += static_cast<char>('a' + (state >> 24) % 26);
  }
  return text + "\"";
}

unsigned permissions(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

class ArchiveFilesTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // Appends and confirms, as Retention does after a successful removal.
  ArchiveFile append(const std::vector<Details>& events, TimePoint now = kMidnight) {
    const auto file = files_.append(events, now);
    EXPECT_TRUE(file) << file.error().message;
    if (!file) return {};
    files_.confirm(*file);
    return *file;
  }

  // The ids in a file, or an error text.
  std::vector<std::string> ids(const std::string& name) const {
    std::istringstream text(zcat(name));
    std::vector<std::string> found;
    JsonParser parser;
    for (std::string line; std::getline(text, line);) {
      const auto parsed = parser.parse(line);
      if (!parsed) return {"no JSON: " + line};
      found.emplace_back(parsed->members().at(0).value.raw());
    }
    return found;
  }

  std::string zcat(const std::string& name) const {
    FILE* const pipe = ::popen(("zcat '" + path(name) + "' 2>&1").c_str(), "r");
    std::string text(1 << 22, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), pipe));
    return ::pclose(pipe) == 0 ? text : "zcat failed: " + text;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      found.push_back(entry.path().filename());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  const TemporaryDirectory directory_;
  const std::string folder_ = directory_.file("a/archive");
  ArchiveFiles files_{folder_, {}};
};

TEST_F(ArchiveFilesTest, TouchesNothingBeforeTheFirstAppend) {
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(ArchiveFilesTest, WritesALinePerEventAsTheApiShowsIt) {
  const ArchiveFile file = append({ended(1), ended(2, R"({"a":[1,2]})")});

  EXPECT_EQ(file.name, kName);
  EXPECT_EQ(file.bytes, static_cast<std::int64_t>(std::filesystem::file_size(path(kName))));
  std::string expected;
  for (const Details& details : {ended(1), ended(2, R"({"a":[1,2]})")}) {
    JsonWriter json(expected);
    wire::write_details(json, details.event, details.log);
    expected += '\n';
  }
  EXPECT_EQ(zcat(kName), expected);
  EXPECT_THAT(expected, HasSubstr("\"logs\":[{\"id\":10,"));
}

TEST_F(ArchiveFilesTest, KeepsAnEventOnOneLine) {
  append({ended(1, "{\n  \"a\": \"x\\ny\",\r\n  \"b\": 2\n}"), ended(2)});

  EXPECT_THAT(ids(kName), ElementsAre("1", "2"));
  EXPECT_THAT(zcat(kName), HasSubstr(R"("payload":{   "a": "x\ny",    "b": 2 })"));
}

TEST_F(ArchiveFilesTest, FilesAndFolderAreReadableByTheOwnerOnly) {
  const mode_t before = ::umask(0);
  append({ended(1)});
  ::umask(before);

  EXPECT_EQ(permissions(folder_), 0700U);
  EXPECT_EQ(permissions(path(kName)), 0600U);
}

TEST_F(ArchiveFilesTest, KeepsThePermissionsOfAnExistingFolder) {
  std::filesystem::create_directories(folder_);
  ASSERT_EQ(::chmod(folder_.c_str(), 0750), 0);

  append({ended(1)});

  EXPECT_EQ(permissions(folder_), 0750U);
}

TEST_F(ArchiveFilesTest, AppendsToTheFileOfTheDay) {
  const ArchiveFile first = append(ended(1, 3));
  const ArchiveFile second = append(ended(4, 5));

  EXPECT_EQ(second.name, first.name);
  EXPECT_GT(second.bytes, first.bytes);
  EXPECT_THAT(ids(kName), ElementsAre("1", "2", "3", "4", "5"));
}

TEST_F(ArchiveFilesTest, StartsANewFileEachDay) {
  append({ended(1)}, kMidnight);
  append({ended(2)}, kMidnight + 1s);
  append({ended(3)}, kMidnight);

  EXPECT_THAT(ids(kName), ElementsAre("1", "3"));
  EXPECT_THAT(ids("events-2026-02-01.ndjson.gz"), ElementsAre("2"));
}

TEST_F(ArchiveFilesTest, CompressesTheEvents) {
  const ArchiveFile file = append(ended(1, 200));

  EXPECT_EQ(ids(kName).size(), 200U);
  EXPECT_LT(file.bytes, static_cast<std::int64_t>(zcat(kName).size() / 10));
}

TEST_F(ArchiveFilesTest, CutsOffAnUnconfirmedAppend) {
  append({ended(1)});
  ASSERT_TRUE(files_.append(ended(2, 3), kMidnight));  // the transaction failed

  append(ended(2, 4));

  EXPECT_THAT(ids(kName), ElementsAre("1", "2", "3", "4"));
}

TEST_F(ArchiveFilesTest, CutsOffAFirstAppendThatWasNotConfirmed) {
  ASSERT_TRUE(files_.append({{ended(1)}}, kMidnight));

  append({ended(2)});

  EXPECT_THAT(ids(kName), ElementsAre("2"));
  EXPECT_THAT(names(), ElementsAre(kName));
}

TEST_F(ArchiveFilesTest, CutsOffATornAppendAfterARestart) {
  const ArchiveFile known = append({ended(1)});
  std::ofstream(path(kName), std::ios::binary | std::ios::app) << "\x1f\x8b torn";
  ArchiveFiles restarted(folder_, {known});

  const auto file = restarted.append({{ended(2)}}, kMidnight);

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_THAT(ids(kName), ElementsAre("1", "2"));
}

TEST_F(ArchiveFilesTest, KeepsAnAppendThatTheStoreConfirmsLater) {
  append({ended(1)});
  const auto doubtful = files_.append({{ended(2)}}, kMidnight);
  ASSERT_TRUE(doubtful);

  files_.confirm(std::vector{*doubtful});
  append({ended(3)});

  EXPECT_THAT(ids(kName), ElementsAre("1", "2", "3"));
}

TEST_F(ArchiveFilesTest, SkipsAFileThatTheStoreDoesNotKnow) {
  append({ended(1)});
  ArchiveFiles others(folder_, {});

  const auto file = others.append({{ended(2)}}, kMidnight);

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->name, kSecondName);
  EXPECT_THAT(ids(kName), ElementsAre("1"));
  EXPECT_THAT(ids(kSecondName), ElementsAre("2"));
}

TEST_F(ArchiveFilesTest, ContinuesInTheFileOfTheLastAppend) {
  std::filesystem::create_directories(folder_);
  std::ofstream(path(kName)) << "somebody else's";
  const ArchiveFile known = append({ended(1)});
  ArchiveFiles restarted(folder_, {known});

  const auto file = restarted.append({{ended(2)}}, kMidnight);

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(known.name, kSecondName);
  EXPECT_THAT(ids(kSecondName), ElementsAre("1", "2"));
  EXPECT_EQ(std::filesystem::file_size(path(kName)), 15U);
}

TEST_F(ArchiveFilesTest, SkipsAFileThatIsShorterThanItsConfirmedSize) {
  const ArchiveFile first = append({ended(1)});
  std::filesystem::resize_file(path(kName), static_cast<std::uintmax_t>(first.bytes - 1));

  EXPECT_EQ(append({ended(2)}).name, kSecondName);
  EXPECT_EQ(append({ended(3)}).name, kSecondName);

  EXPECT_THAT(ids(kSecondName), ElementsAre("2", "3"));
}

TEST_F(ArchiveFilesTest, SkipsTheNameOfAConfirmedFileThatWasDeleted) {
  append({ended(1)});
  std::filesystem::remove(path(kName));

  EXPECT_EQ(append({ended(2)}).name, kSecondName);

  EXPECT_THAT(names(), ElementsAre(kSecondName));
}

TEST_F(ArchiveFilesTest, SkipsANameThatIsNotARegularFile) {
  std::filesystem::create_directories(path(kName));
  std::filesystem::create_symlink(directory_.file("elsewhere"), path(kSecondName));

  EXPECT_EQ(append({ended(1)}).name, "events-2026-01-31.3.ndjson.gz");

  EXPECT_FALSE(std::filesystem::exists(directory_.file("elsewhere")));
}

TEST_F(ArchiveFilesTest, MakesItsFolderAgainAfterItWasDeleted) {
  append({ended(1)});
  std::filesystem::remove_all(folder_);

  EXPECT_EQ(append({ended(2)}).name, kSecondName);
}

TEST_F(ArchiveFilesTest, SaysWhyItCannotMakeItsFolder) {
  std::ofstream(directory_.file("a")) << "a file";

  const auto file = files_.append({{ended(1)}}, kMidnight);

  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::unavailable);
  EXPECT_EQ(file.error().field, "archive_dir");
  EXPECT_EQ(file.error().message,
            "Cannot make the folder " + folder_ +
                ": Not a directory. Events stay in the store until the archive can be written.");
}

TEST_F(ArchiveFilesTest, RefusesAFileInPlaceOfItsFolder) {
  std::ofstream(directory_.file("b")) << "a file";
  ArchiveFiles files(directory_.file("b"), {});

  EXPECT_THAT(files.append({{ended(1)}}, kMidnight).error().message, HasSubstr(": File exists."));
}

TEST_F(ArchiveFilesTest, RefusesAFolderInWhichItMayNotWrite) {
  ArchiveFiles files("/proc", {});  // not even root may

  const auto file = files.append({{ended(1)}}, kMidnight);

  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::unavailable);
  EXPECT_THAT(file.error().message, HasSubstr("/proc"));
}

TEST_F(ArchiveFilesTest, RecoversFromAPartialWrite) {
  append({ended(1)});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);

  const auto torn = files_.append({{ended(2, noise(100'000))}}, kMidnight);

  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(torn);
  EXPECT_THAT(torn.error().message, HasSubstr("Cannot write "));
  EXPECT_EQ(std::filesystem::file_size(path(kName)), 4096U);
  append({ended(3)});
  EXPECT_THAT(ids(kName), ElementsAre("1", "3"));
}

}  // namespace
}  // namespace eventq
