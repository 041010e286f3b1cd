// folder_test.cc: tests file access beneath a folder while links and other things are put in its way.
#include "notebook/files/folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "notebook/files/note_path.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A notebook's folder with kOwnFolder, and a folder outside it that must never be touched.
class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    fs::create_directories(in("notes/deep"));
    fs::create_directory(in(".eventq"));
    fs::create_directory(outside(""));
    put(outside("secret"), "secret");
  }

  [[nodiscard]] std::string in(const std::string& path) const { return directory_.file("notebook/" + path); }
  [[nodiscard]] std::string outside(const std::string& path) const {
    return directory_.file("outside/" + path);
  }
  static void put(const std::string& file, std::string_view content) { std::ofstream(file) << content; }
  static std::string get(const std::string& file) {
    std::ostringstream content;
    content << std::ifstream(file).rdbuf();
    return content.str();
  }
  static mode_t mode_of(const std::string& file) {
    struct stat status {};
    EXPECT_EQ(::lstat(file.c_str(), &status), 0) << file;
    return status.st_mode & 07777;
  }
  [[nodiscard]] std::vector<std::string> names_outside() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(outside(""))) names.push_back(entry.path().filename());
    return names;
  }

  // Links at the end and in the middle, a fifo, a socket, a folder: everything that is no regular file.
  void put_strange_things() const {
    fs::create_symlink(outside("secret"), in("link"));
    fs::create_symlink("notes/real", in("inner_link"));
    fs::create_symlink("nowhere", in("dangling"));
    fs::create_directory_symlink(outside(""), in("away"));
    fs::create_directory_symlink("notes", in("inner_away"));
    fs::create_directory_symlink("/proc/self/root", in("magic"));
    ASSERT_EQ(::mkfifo(in("fifo").c_str(), 0600), 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(in("socket").size(), sizeof address.sun_path);
    std::strcpy(address.sun_path, in("socket").c_str());
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  // The path of the link that is exchanged with a folder.
  [[nodiscard]] std::string directory_link() const { return directory_.file("link"); }

  [[nodiscard]] Folder open(mode_t mask = 022) const { return std::move(*Folder::open(in(""), mask)); }

 private:
  TemporaryDirectory directory_;
  const bool made_ = fs::create_directory(directory_.file("notebook"));
};

// The error's message; empty when there is no error.
template <typename T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

TEST_F(FolderTest, OpensAFolderAndNothingElse) {
  put(in("file"), "x");

  EXPECT_TRUE(Folder::open(in(""), 022));
  EXPECT_EQ(code_of(Folder::open(in("absent"), 022)), ErrorCode::not_found);
  EXPECT_EQ(code_of(Folder::open(in("file"), 022)), ErrorCode::invalid_argument);
  EXPECT_THAT(Folder::open(in("absent"), 022).error().message, HasSubstr("No such file"));
}

TEST_F(FolderTest, KindNamesFilesFoldersAndOtherThings) {
  put(in("notes/a.md"), "x");
  put_strange_things();
  const Folder folder = open();

  EXPECT_EQ(*folder.kind("notes/a.md"), PathKind::file);
  EXPECT_EQ(*folder.kind("notes"), PathKind::folder);
  EXPECT_EQ(*folder.kind("absent"), PathKind::absent);
  EXPECT_EQ(*folder.kind("absent/deeper"), PathKind::absent);
  EXPECT_EQ(*folder.kind("notes/a.md/deeper"), PathKind::absent);
  for (const char* link :
       {"link", "inner_link", "dangling", "away", "inner_away", "magic", "fifo", "socket"}) {
    EXPECT_EQ(*folder.kind(link), PathKind::other) << link;
  }
  EXPECT_EQ(*folder.kind("away/secret"), PathKind::absent);
  EXPECT_EQ(*folder.kind("inner_away/a.md"), PathKind::absent);
  EXPECT_EQ(*folder.kind("magic/etc"), PathKind::absent);
}

TEST_F(FolderTest, ReadsTheContentThatWasWritten) {
  Folder folder = open();
  const std::string content("one\0two\n", 8);

  const auto written = folder.write_own(".eventq/1", content, "");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->size, 8);
  EXPECT_FALSE(written->executable);
  EXPECT_EQ(*folder.file_state(".eventq/1"), *written);
  EXPECT_EQ(*folder.read(".eventq/1", 100), content);
  EXPECT_EQ(get(in(".eventq/1")), content);
  EXPECT_TRUE(folder.sync_file(".eventq/1"));
  EXPECT_TRUE(folder.sync_folder(".eventq"));
  EXPECT_TRUE(folder.sync_folder(""));
  EXPECT_TRUE(folder.sync_all());
}

TEST_F(FolderTest, ReadsNoMoreThanItMay) {
  put(in("a"), "12345");
  const Folder folder = open();

  EXPECT_EQ(*folder.read("a", 6), "12345");
  EXPECT_EQ(*folder.read("a", 5), "12345");
  EXPECT_EQ(code_of(folder.read("a", 4)), ErrorCode::too_large);
  put(in("empty"), "");
  EXPECT_EQ(*folder.read("empty", 0), "");
}

TEST_F(FolderTest, ReadsALargeFileWhole) {
  std::string content(1'000'001, 'x');
  for (std::size_t i = 0; i < content.size(); i += 7) content[i] = static_cast<char>('a' + i % 26);
  put(in("large"), content);
  const Folder folder = open();

  EXPECT_EQ(*folder.read("large", content.size()), content);
  EXPECT_EQ(folder.digest("large")->hash, hash_of(content));
}

TEST_F(FolderTest, ReadsNothingButRegularFiles) {
  put(in("notes/real"), "x");
  put(in("notes/file"), "x");
  put_strange_things();
  const Folder folder = open();

  for (const char* path : {"link", "inner_link", "dangling", "away", "away/secret", "inner_away/real",
                           "magic", "magic/etc/passwd", "fifo", "socket", "notes"}) {
    EXPECT_EQ(code_of(folder.file_state(path)), ErrorCode::invalid_argument) << path;
    EXPECT_EQ(code_of(folder.open_file(path)), ErrorCode::invalid_argument) << path;
    EXPECT_EQ(code_of(folder.read(path, 100)), ErrorCode::invalid_argument) << path;
    EXPECT_EQ(code_of(folder.digest(path)), ErrorCode::invalid_argument) << path;
    EXPECT_EQ(code_of(folder.sync_file(path)), ErrorCode::invalid_argument) << path;
    EXPECT_THAT(folder.read(path, 100).error().message, HasSubstr(path));
  }
  for (const char* path : {"absent", "absent/deeper", "notes/file/deeper"}) {
    EXPECT_EQ(code_of(folder.file_state(path)), ErrorCode::not_found) << path;
    EXPECT_EQ(code_of(folder.read(path, 100)), ErrorCode::not_found) << path;
    EXPECT_EQ(code_of(folder.digest(path)), ErrorCode::not_found) << path;
  }
}

TEST_F(FolderTest, NeverOpensAPathOutsideItself) {
  const Folder folder = open();

  for (const std::string& path :
       {std::string("../outside/secret"), std::string("notes/../../outside/secret"), outside("secret")}) {
    EXPECT_EQ(code_of(folder.read(path, 100)), ErrorCode::invalid_argument) << path;
    EXPECT_FALSE(folder.file_state(path)) << path;
  }
}

TEST_F(FolderTest, ErrorsContainTheSystemsMessage) {
  put_strange_things();
  const Folder folder = open();

  EXPECT_EQ(folder.read("absent", 1).error().message, "Cannot open absent: No such file or directory.");
  EXPECT_EQ(
      folder.read("away/secret", 1).error().message,
      "Cannot open away/secret: Too many levels of symbolic links; a notebook follows no symbolic link.");
}

TEST_F(FolderTest, ChangesNothingThroughALink) {
  put(in("notes/real"), "x");
  put_strange_things();
  Folder folder = open();

  EXPECT_EQ(code_of(folder.rename("notes/real", "away/new", Folder::Rename::no_replace)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder.rename("notes/real", "away/secret", Folder::Rename::exchange)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder.rename("away/secret", "notes/new", Folder::Rename::no_replace)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder.make_folder("away/new")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder.make_folder("away")), ErrorCode::conflict);
  EXPECT_EQ(code_of(folder.remove_file("away/secret")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder.remove_file("inner_away/real")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder.remove_empty_folder("inner_away/deep")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder.sync_folder("away")), ErrorCode::invalid_argument);
  EXPECT_THAT(names_outside(), UnorderedElementsAre("secret"));
  EXPECT_EQ(get(outside("secret")), "secret");
  EXPECT_EQ(get(in("notes/real")), "x");
}

TEST_F(FolderTest, WritesNothingThroughALinkInPlaceOfItsOwnFolder) {
  fs::remove(in(".eventq"));
  fs::create_directory_symlink(outside(""), in(".eventq"));
  Folder folder = open();

  EXPECT_EQ(code_of(folder.write_own(".eventq/1", "x", "")), ErrorCode::invalid_argument);
  EXPECT_THAT(names_outside(), UnorderedElementsAre("secret"));
}

TEST_F(FolderTest, WritesANewFileOnly) {
  Folder folder = open();
  fs::create_symlink(outside("secret"), in(".eventq/link"));
  fs::create_symlink(outside("new"), in(".eventq/dangling"));
  put(in(".eventq/1"), "old");

  for (const char* path : {".eventq/1", ".eventq/link", ".eventq/dangling"}) {
    EXPECT_EQ(code_of(folder.write_own(path, "x", "")), ErrorCode::conflict) << path;
  }
  EXPECT_EQ(code_of(folder.write_own(".eventq/absent/1", "x", "")), ErrorCode::not_found);
  EXPECT_EQ(get(in(".eventq/1")), "old");
  EXPECT_EQ(get(outside("secret")), "secret");
  EXPECT_THAT(names_outside(), UnorderedElementsAre("secret"));
}

// Sets the process's umask to 0077 while it lives.
class NarrowUmask {
 public:
  NarrowUmask() : old_(::umask(077)) {}
  ~NarrowUmask() { ::umask(old_); }
  NarrowUmask(const NarrowUmask&) = delete;
  NarrowUmask& operator=(const NarrowUmask&) = delete;

 private:
  mode_t old_;
};

TEST_F(FolderTest, GivesNewFilesAndFoldersTheRightsOfItsOwnMask) {
  const NarrowUmask narrow;
  for (const mode_t mask : {022U, 002U, 077U, 0U}) {
    Folder folder = open(mask);
    ASSERT_TRUE(folder.write_own(".eventq/1", "x", ""));
    ASSERT_TRUE(folder.make_folder("new"));
    EXPECT_EQ(mode_of(in(".eventq/1")), 0666 & ~mask);
    EXPECT_EQ(mode_of(in("new")), 0777 & ~mask);
    fs::remove(in(".eventq/1"));
    fs::remove(in("new"));
  }
}

TEST_F(FolderTest, ANewFolderKeepsTheSetGroupIdItInherits) {
  Folder folder = open();
  ASSERT_EQ(::chmod(in("notes").c_str(), 02755), 0);

  ASSERT_TRUE(folder.make_folder("notes/new"));

  EXPECT_EQ(mode_of(in("notes/new")), 02755U);
}

TEST_F(FolderTest, GivesAFileTheRightsOfTheOneItReplaces) {
  const NarrowUmask narrow;
  Folder folder = open();
  put(in("script"), "old");
  put_strange_things();
  ASSERT_EQ(::chmod(in("script").c_str(), 04755), 0);

  const auto like_script = folder.write_own(".eventq/1", "x", "script");
  ASSERT_TRUE(like_script);
  EXPECT_TRUE(like_script->executable);
  EXPECT_EQ(mode_of(in(".eventq/1")), 0755U);  // but no set-user-id
  for (const std::string like : {"absent", "notes/absent", "notes", "link", "fifo", "away/secret"}) {
    ASSERT_TRUE(folder.write_own(".eventq/2", "x", like)) << like;
    EXPECT_EQ(mode_of(in(".eventq/2")), 0644U) << like;
    ASSERT_TRUE(folder.remove_file(".eventq/2"));
  }
}

TEST_F(FolderTest, RenamesWhereNothingIs) {
  put(in("a"), "1");
  put(in("b"), "2");
  Folder folder = open();
  const FileState before = *folder.file_state("a");

  EXPECT_EQ(code_of(folder.rename("a", "b", Folder::Rename::no_replace)), ErrorCode::conflict);
  EXPECT_EQ(code_of(folder.rename("a", "notes", Folder::Rename::no_replace)), ErrorCode::conflict);
  EXPECT_EQ(code_of(folder.rename("absent", "c", Folder::Rename::no_replace)), ErrorCode::not_found);
  EXPECT_EQ(code_of(folder.rename("a", "absent/c", Folder::Rename::no_replace)), ErrorCode::not_found);
  EXPECT_EQ(get(in("a")), "1");
  EXPECT_EQ(get(in("b")), "2");
  EXPECT_TRUE(folder.rename("a", "notes/deep/c", Folder::Rename::no_replace));
  EXPECT_FALSE(fs::exists(in("a")));
  EXPECT_EQ(*folder.file_state("notes/deep/c"), before);
  EXPECT_TRUE(folder.rename("notes", "moved", Folder::Rename::no_replace));
  EXPECT_EQ(*folder.file_state("moved/deep/c"), before);
}

TEST_F(FolderTest, ExchangesTwoFiles) {
  put(in("a"), "1");
  put(in("notes/b"), "2");
  Folder folder = open();
  const FileState a = *folder.file_state("a");
  const FileState b = *folder.file_state("notes/b");

  ASSERT_TRUE(folder.rename("a", "notes/b", Folder::Rename::exchange));

  EXPECT_EQ(*folder.file_state("a"), b);
  EXPECT_EQ(*folder.file_state("notes/b"), a);
  EXPECT_EQ(get(in("a")), "2");
  EXPECT_EQ(code_of(folder.rename("a", "absent", Folder::Rename::exchange)), ErrorCode::not_found);
  EXPECT_EQ(get(in("a")), "2");
}

TEST_F(FolderTest, MakeFolderKeepsAFolderThatExists) {
  put(in("file"), "x");
  Folder folder = open();

  EXPECT_TRUE(folder.make_folder("new"));
  EXPECT_TRUE(folder.make_folder("new/deeper"));
  EXPECT_TRUE(folder.make_folder("new"));
  EXPECT_TRUE(fs::is_directory(in("new/deeper")));
  EXPECT_EQ(code_of(folder.make_folder("absent/new")), ErrorCode::not_found);
  EXPECT_EQ(code_of(folder.make_folder("file")), ErrorCode::conflict);
  EXPECT_EQ(code_of(folder.make_folder("file/new")), ErrorCode::not_found);
}

TEST_F(FolderTest, RemovesFilesAndEmptyFolders) {
  put(in("notes/a"), "x");
  fs::create_symlink(outside("secret"), in("link"));
  Folder folder = open();

  EXPECT_EQ(code_of(folder.remove_file("notes")), ErrorCode::invalid_argument);
  EXPECT_TRUE(folder.remove_empty_folder("notes"));
  EXPECT_TRUE(folder.remove_empty_folder("notes/a"));
  EXPECT_TRUE(folder.remove_empty_folder("absent"));
  EXPECT_TRUE(folder.remove_empty_folder("absent/deeper"));
  EXPECT_EQ(get(in("notes/a")), "x");
  EXPECT_TRUE(folder.remove_file("notes/a"));
  EXPECT_TRUE(folder.remove_file("notes/a"));
  EXPECT_TRUE(folder.remove_file("absent/deeper"));
  EXPECT_TRUE(folder.remove_file("link"));
  EXPECT_FALSE(fs::exists(in("notes/a")));
  EXPECT_EQ(get(outside("secret")), "secret");
  EXPECT_TRUE(folder.remove_empty_folder("notes/deep"));
  EXPECT_FALSE(fs::exists(in("notes/deep")));
  EXPECT_TRUE(folder.remove_empty_folder("notes"));
  EXPECT_FALSE(fs::exists(in("notes")));
}

TEST_F(FolderTest, DigestsAFile) {
  put(in("abc.md"), "abc");
  Folder folder = open();

  const auto digest = folder.digest("abc.md");
  ASSERT_TRUE(digest) << digest.error().message;
  EXPECT_EQ(digest->hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest->content_type, "text/markdown");
  EXPECT_EQ(digest->state, *folder.file_state("abc.md"));
  EXPECT_EQ(hash_of("abc"), digest->hash);
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_F(FolderTest, FileStateDiffersAfterAFileChanged) {
  put(in("a"), "1");
  const Folder folder = open();
  const FileState before = *folder.file_state("a");

  EXPECT_EQ(*folder.file_state("a"), before);
  put(in("a"), "22");
  EXPECT_NE(*folder.file_state("a"), before);
  ASSERT_EQ(::chmod(in("a").c_str(), 0700), 0);
  EXPECT_TRUE(folder.file_state("a")->executable);
}

TEST_F(FolderTest, WalksOverFilesAndFoldersThatAPathCanName) {
  put(in("a"), "1");
  put(in("notes/b.md"), "22");
  put(in("notes/deep/c"), "");
  put(in(".hidden"), "x");
  put(in(".eventq/own"), "x");
  fs::create_directories(in(".git/objects"));
  put(in(".git/config"), "x");
  fs::create_directories(in("notes/.GIT"));
  put(in("notes/.GIT/x"), "x");
  put(in("bad\nname"), "x");
  put(in("bad\xFF"), "x");
  put(in("back\\slash"), "x");
  put(in("con.txt"), "x");
  fs::create_directory(in("aux"));
  put(in("aux/x"), "x");
  put_strange_things();
  const Folder folder = open();
  const auto walked = [&](const std::string& path) {
    std::vector<std::string> seen;
    const auto done = folder.walk(path, [&](const Folder::WalkEntry& one) {
      EXPECT_EQ(*folder.kind(one.path), one.kind) << one.path;
      const bool is_file = one.kind == PathKind::file;
      EXPECT_EQ(one.state, is_file ? *folder.file_state(one.path) : FileState()) << one.path;
      seen.push_back(one.path + (is_file ? "" : "/"));
    });
    EXPECT_TRUE(done) << done.error().message;
    return seen;
  };

  EXPECT_THAT(walked(""),
              UnorderedElementsAre("a", ".hidden", "notes/", "notes/b.md", "notes/deep/", "notes/deep/c"));
  EXPECT_THAT(walked("notes"), UnorderedElementsAre("notes/b.md", "notes/deep/", "notes/deep/c"));
  EXPECT_THAT(walked("notes/deep"), UnorderedElementsAre("notes/deep/c"));
  for (const char* path : {"absent", "a", "away", "inner_away", ".git", ".eventq"}) {
    EXPECT_THAT(walked(path), IsEmpty()) << path;
  }
}

TEST_F(FolderTest, AWalkContinuesWhenAFolderVanishes) {
  put(in("notes/deep/c"), "");
  put(in("notes/d"), "");
  const Folder folder = open();
  std::vector<std::string> seen;

  const auto done = folder.walk("", [&](const Folder::WalkEntry& one) {
    seen.push_back(one.path);
    fs::remove_all(in("notes/deep"));
  });

  EXPECT_TRUE(done) << done.error().message;
  EXPECT_THAT(seen, UnorderedElementsAre("notes", "notes/d"));
}

TEST_F(FolderTest, AWalkDoesNotFollowALinkThatReplacesAFolder) {
  put(outside("more"), "x");
  const Folder folder = open();
  std::vector<std::string> seen;

  const auto done = folder.walk("", [&](const Folder::WalkEntry& one) {
    seen.push_back(one.path);
    fs::remove_all(in("notes"));
    fs::create_directory_symlink(outside(""), in("notes"));
  });

  EXPECT_TRUE(done) << done.error().message;
  EXPECT_THAT(seen, UnorderedElementsAre("notes"));
}

// While it lives, another thread exchanges the folder "swapped" with a link to a folder outside, and back.
class LinkSwapper {
 public:
  LinkSwapper(std::string folder, std::string link)
      : folder_(std::move(folder)), link_(std::move(link)), thread_([this] {
          while (!stop_) {
            EXPECT_EQ(::renameat2(AT_FDCWD, folder_.c_str(), AT_FDCWD, link_.c_str(), RENAME_EXCHANGE), 0);
            ++swaps_;
            swaps_.notify_all();
          }
        }) {}
  ~LinkSwapper() {
    stop_ = true;
    thread_.join();
  }
  LinkSwapper(const LinkSwapper&) = delete;
  LinkSwapper& operator=(const LinkSwapper&) = delete;

  // Returns after at least one more exchange.
  void wait_for_a_swap() const {
    const int seen = swaps_;
    swaps_.wait(seen);
  }

 private:
  std::string folder_;
  std::string link_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> swaps_ = 0;
  std::thread thread_;  // last member: the thread uses the others
};

TEST_F(FolderTest, TouchesNothingOutsideWhileAFolderBecomesALinkAndBack) {
  put(outside("file"), "outside");
  fs::create_directory(in("swapped"));
  put(in("swapped/file"), "inside");
  fs::create_directory_symlink(outside(""), directory_link());
  Folder folder = open();
  int reads = 0;
  int refused = 0;
  {
    const LinkSwapper swapper(in("swapped"), directory_link());
    // Until the call met the folder and the link often enough.
    for (int round = 0; round < 500 || reads < 20 || refused < 20; ++round) {
      if (round % 10 == 0) swapper.wait_for_a_swap();
      if (const auto content = folder.read("swapped/file", 100)) {
        EXPECT_EQ(*content, "inside");
        ++reads;
      }
      if (const auto digest = folder.digest("swapped/file")) {
        EXPECT_EQ(digest->hash, hash_of("inside"));
      }
      static_cast<void>(folder.make_folder("swapped/new"));
      static_cast<void>(folder.remove_empty_folder("swapped/new"));
      ASSERT_TRUE(folder.write_own(".eventq/1", "inside", "swapped/file"));
      if (!folder.rename(".eventq/1", "swapped/file", Folder::Rename::exchange)) ++refused;
      if (!folder.rename(".eventq/1", "swapped/other", Folder::Rename::no_replace)) {
        ASSERT_TRUE(folder.remove_file(".eventq/1"));
      }
      static_cast<void>(folder.remove_file("swapped/other"));
      static_cast<void>(
          folder.walk("", [&](const Folder::WalkEntry& seen) { EXPECT_NE(seen.path, "swapped/secret"); }));
    }
  }
  EXPECT_THAT(names_outside(), UnorderedElementsAre("secret", "file"));
  EXPECT_EQ(get(outside("file")), "outside");
  EXPECT_EQ(get(outside("secret")), "secret");
}

TEST_F(FolderTest, ShowsAReaderOnlyWholeContentsWhileTheyAreExchanged) {
  const auto content = [](int number) { return std::string(20'000, static_cast<char>('a' + number % 26)); };
  put(in("a"), content(0));
  Folder folder = open();
  std::atomic<bool> stop = false;
  std::atomic<int> reads = 0;
  std::thread reader([&] {
    while (!stop) {
      const std::string seen = get(in("a"));
      EXPECT_EQ(seen.size(), 20'000U);
      EXPECT_EQ(seen.find_first_not_of(seen.substr(0, 1)), seen.npos);
      ++reads;
      reads.notify_all();
    }
  });
  reads.wait(0);
  for (int number = 1; number <= 1000; ++number) {
    ASSERT_TRUE(folder.write_own(".eventq/1", content(number), "a"));
    ASSERT_TRUE(folder.rename(".eventq/1", "a", Folder::Rename::exchange));
    ASSERT_TRUE(folder.remove_file(".eventq/1"));
  }
  stop = true;
  reader.join();

  EXPECT_EQ(get(in("a")), content(1000));
}

TEST(ContentType, IsThatOfTheExtension) {
  struct Row {
    std::string_view path;
    std::string_view type;
  };
  for (const Row& row :
       {Row{"a.md", "text/markdown"}, Row{"A.MD", "text/markdown"}, Row{"n.x/a.json", "application/json"},
        Row{"a.tar.gz", "application/gzip"}, Row{"a.svg", "image/svg+xml"}, Row{"a.jpeg", "image/jpeg"}}) {
    EXPECT_EQ(content_type_of(row.path, std::string_view("\0\xFF", 2)), row.type) << row.path;
  }
}

TEST(ContentType, IsThatOfTheContentWhenNoExtensionSaysIt) {
  for (const std::string_view path : {"README", "a.unknown", "a.", ".md", "n.md/README", "a.m"}) {
    EXPECT_EQ(content_type_of(path, "text\twith\r\n\fall"), "text/plain") << path;
    EXPECT_EQ(content_type_of(path, std::string_view("a\0b", 3)), "application/octet-stream") << path;
  }
  EXPECT_EQ(content_type_of("a", ""), "text/plain");
  EXPECT_EQ(content_type_of("a", "Grüße \U0001F600"), "text/plain");
  for (const std::string_view other :
       {"\x1B[1m", "a\x7F", "\xFF\xFE", "a\xFF", "a\xC0\xAF", "\x80", "a\x80\x80\x80"}) {
    EXPECT_EQ(content_type_of("a", other), "application/octet-stream") << other;
  }
}

TEST(ContentType, IsTextWhenTheBeginningEndsInsideACharacter) {
  const std::string_view text = "a\U0001F600";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    EXPECT_EQ(content_type_of("a", text.substr(0, size)), "text/plain") << size;
  }
}

}  // namespace
}  // namespace eventq::notebook
