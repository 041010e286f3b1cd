// git_filters_test.cc: tests that contents are stored as `git add` stores them, and that no content with a
// filter is stored.
#include <random>

#include "notebook/git/git_attributes.h"
#include "notebook/git/git_blobs.h"
#include "support/git_repo_fixture.h"

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class GitFiltersTest : public GitRepoTest {
 protected:
  // Commits a blob for `path` that differs from the file, as a clean filter does.
  void record(const std::string& path, const std::string& stored) {
    const std::string file = directory_.file("stored");
    std::ofstream(file, std::ios::binary | std::ios::trunc) << stored;
    const std::string blob = git({"hash-object", "-w", "--no-filters", file}).substr(0, 40);
    git({"update-index", "--add", "--cacheinfo", "100644," + blob + "," + path});
    git({"commit", "-q", "-m", "theirs"});
  }
  // The blobs that `git add` of a copy of the folder stores, and those of HEAD.
  std::vector<std::string> blobs_of_git() {
    const std::string copy = directory_.file("copy");
    fs::remove_all(copy);
    fs::copy(path_, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    git_in(copy, {"add", "-A"});
    return lines(git_in(copy, {"ls-files", "--format=%(objectname) %(path)"}));
  }
  std::vector<std::string> blobs_of_head() {
    return lines(git({"ls-tree", "-r", "--format=%(objectname) %(path)", "HEAD"}));
  }
  std::vector<std::string> all_paths() {
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      const std::string path = fs::relative(entry.path(), path_).string();
      if (entry.is_regular_file() && !path.starts_with(".git/")) paths.push_back(path);
    }
    return paths;
  }
  std::vector<std::string> filters(const std::string& path) {
    git::ConfigHandle config;
    git::RepositoryHandle opened;
    EXPECT_EQ(git_repository_open(opened.out(), path_.c_str()), 0);
    EXPECT_EQ(git_repository_config_snapshot(config.out(), opened), 0);
    return must(GitAttributes(opened, config, nullptr, folder()).of(path)).filters;
  }
};

TEST_F(GitFiltersTest, TheContentOfALargeFileWithAFilterOrAConversionIsNotStoredAhead) {
  git({"init", "-q"});
  write(".gitattributes", "*.key filter=crypt\n*.txt text\n");
  const auto is_stored = [&](const std::string& path) {
    write(path, "content of " + path);
    const std::string id = git({"hash-object", "--no-filters", path}).substr(0, 40);
    const std::atomic<bool> stop = false;
    EXPECT_TRUE(store_blob(path_, folder(), path, id, stop));
    return git({"cat-file", "--batch-all-objects", "--batch-check"}).find(id) != std::string::npos;
  };

  EXPECT_FALSE(is_stored("a.key"));
  EXPECT_FALSE(is_stored("a.txt"));
  EXPECT_TRUE(is_stored("a.bin"));
}

TEST_F(GitFiltersTest, APlaintextIsNotCommittedInPlaceOfItsEncryptedContent) {
  git({"init", "-q"});
  write(".gitattributes", "secret/** filter=crypt diff=crypt\n*.psd filter=lfs -text\n");
  git({"add", ".gitattributes"});
  record("secret/key", "ENCRYPTED");
  record("image.psd", "version https://git-lfs.github.com/spec/v1\n");
  write("secret/key", "plaintext");
  write("image.psd", "raw");
  write("a", "1");
  const GitCommit made = commit({"a", "image.psd", "secret/key"});
  EXPECT_THAT(made.changed, ElementsAre("a"));
  EXPECT_THAT(made.filtered, ElementsAre("image.psd", "secret/key"));
  EXPECT_THAT(made.left_out, IsEmpty());
  EXPECT_EQ(git({"show", "HEAD:secret/key"}), "ENCRYPTED");
  EXPECT_EQ(git({"show", "HEAD:image.psd"}), "version https://git-lfs.github.com/spec/v1\n");
  const std::string blob = git({"hash-object", "--no-filters", "secret/key"}).substr(0, 40);
  EXPECT_NE(run(setup({"git", "cat-file", "-e", blob}, path_)).exit_code, 0);  // nor is it in the objects
}

TEST_F(GitFiltersTest, ANewFileWithAFilterIsNotCommittedAndADeletedOneIsDeleted) {
  git({"init", "-q"});
  write(".gitattributes", "secret/** filter=crypt\n");
  git({"add", ".gitattributes"});
  record("secret/old", "ENCRYPTED");
  write("secret/new", "plaintext");
  const GitCommit made = commit({"secret/new", "secret/old"});
  EXPECT_THAT(made.filtered, ElementsAre("secret/new"));
  EXPECT_THAT(made.changed, ElementsAre("secret/old"));
  EXPECT_THAT(tree(), ElementsAre(".gitattributes"));
}

TEST_F(GitFiltersTest, AFileIsCommittedWhenEachOfItsFiltersIsBypassed) {
  write(".gitattributes",
        "*.psd filter=lfs\n*.txt working-tree-encoding=UTF-16\n*.both filter=lfs "
        "working-tree-encoding=UTF-16\n*.utf working-tree-encoding=UTF-8\n");
  for (const std::string name : {"a.psd", "a.txt", "a.both", "a.utf"}) write(name, "raw");
  const std::vector<std::string> paths = {"a.both", "a.psd", "a.txt", "a.utf"};
  EXPECT_THAT(commit(paths).changed, ElementsAre("a.utf"));
  repo().bypass_filters("other, lfs");
  EXPECT_THAT(commit(paths).changed, ElementsAre("a.psd"));
  repo().bypass_filters("lfs,working-tree-encoding");
  EXPECT_THAT(commit(paths).changed, ElementsAre("a.both", "a.txt"));
  EXPECT_EQ(git({"show", "HEAD:a.psd"}), "raw");
}

TEST_F(GitFiltersTest, AttributesAreReadFromEveryFileThatGitReads) {
  git({"init", "-q"});
  write(".gitattributes", "[attr]locked filter=macro\n*.m locked\nsub/*.z filter=root\n*.y filter=root\n");
  write("sub/.gitattributes", "*.z filter=sub\n*.y -filter\n");
  write(".git/info/attributes", "*.i filter=info\n");
  write("../users", "*.u filter=user\n*.i filter=user\n");
  git({"config", "core.attributesFile", directory_.file("users")});
  EXPECT_THAT(filters("a.m"), ElementsAre("macro"));
  EXPECT_THAT(filters("sub/a.z"), ElementsAre("sub"));
  EXPECT_THAT(filters("sub/a.y"), IsEmpty());
  EXPECT_THAT(filters("a.y"), ElementsAre("root"));
  EXPECT_THAT(filters("sub/a.i"), ElementsAre("info"));
  EXPECT_THAT(filters("a.u"), ElementsAre("user"));
}

TEST_F(GitFiltersTest, AnAttributesFileThatIsOnlyInTheIndexCounts) {
  git({"init", "-q"});
  write(".gitattributes", "*.secret filter=crypt\n");
  git({"add", ".gitattributes"});
  git({"commit", "-q", "-m", "theirs"});
  remove(".gitattributes");
  write("a.secret", "plaintext");
  EXPECT_THAT(commit({"a.secret"}).filtered, ElementsAre("a.secret"));
}

// libgit2 knows no quoted and no negative patterns, and follows a link.
TEST_F(GitFiltersTest, TheAttributesOfRandomPathsAreThoseOfGit) {
  git({"init", "-q"});
  const std::vector<std::string> pieces = {"a",   "b",    "ab",   "*",   "**",    "?",
                                           "/",   "[ab]", "[!a]", "\\a", "\\*",   "c.",
                                           "**/", "/**",  "b/",   "a/",  "[a-c]", "[[:alpha:]]"};
  const std::vector<std::string> names = {"a", "b", "ab", "c.", "ba", "a*", "abc", "a b", "\"q", "!n"};
  std::mt19937 random(7);
  const auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  const auto lines_of_rules = [&](int count) {
    std::string text =
        "\"a b\" filter=quoted\n\"\\141\\\"\" filter=escaped\n!n filter=negative\n \\!n filter=f\n";
    for (int i = 0; i < count; ++i) {
      std::string pattern;
      for (std::size_t size = 1 + random() % 5; pattern.size() < size * 2;) pattern += pick(pieces);
      text += pattern + pick({" filter=x", " filter=y text", " -filter", " !filter", " binary"}) + "\n";
    }
    return text;
  };
  write(".gitattributes", lines_of_rules(40));
  write("a/.gitattributes", lines_of_rules(10));
  write("a/b/.gitattributes", lines_of_rules(10));
  std::string asked;
  std::vector<std::string> paths;
  for (int i = 0; i < 500; ++i) {
    std::string path = pick(names);
    for (std::size_t depth = random() % 4; depth > 0; --depth) path += "/" + pick(names);
    paths.push_back(path);
    asked += path + '\0';
  }
  write("../asked", asked);
  const Finished answer =
      run(setup({"/bin/sh", "-c", "git check-attr -z --stdin filter < ../asked | tr '\\0' '\\n'"}, path_));
  ASSERT_EQ(answer.exit_code, 0) << answer.err;
  const auto answers = lines(answer.out);
  ASSERT_EQ(answers.size(), paths.size() * 3);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string value = answers[i * 3 + 2];
    const bool is_named = value != "unspecified" && value != "unset" && value != "set";
    const std::vector<std::string> expected = is_named ? std::vector{value} : std::vector<std::string>();
    EXPECT_EQ(filters(paths[i]), expected) << paths[i];
  }
}

// Each folder has attributes, each file a kind of content. `old` files are in HEAD with CR LF.
class GitLineEndsTest : public GitFiltersTest, public testing::WithParamInterface<const char*> {};

TEST_P(GitLineEndsTest, EveryFileIsStoredAsGitAddStoresIt) {
  git({"init", "-q"});
  const std::vector<std::pair<std::string, std::string>> contents = {
      {"lf", "a\nb\n"},
      {"crlf", "a\r\nb\r\n"},
      {"mixed", "a\r\nb\nc\r\n"},
      {"lone", "a\rb\r\nc\n"},
      {"nul", std::string("a\0b\r\n", 5)},
      {"controls", "\x01\x02\x03 abc\r\n"},
      {"few", "\x01" + std::string(200, 'a') + "\r\n"},
      {"dos", "a\r\n\x1a"},
      {"del", "\x7f\r\n"},
      {"end", "a\r"},
      {"id", "$Id: 0123 $\r\n$Id$ $Id:\n$ $Id: x"},
      {"empty", ""}};
  const std::vector<std::string> attributes = {"",
                                               "text",
                                               "text=auto",
                                               "-text",
                                               "eol=crlf",
                                               "eol=lf",
                                               "text=auto eol=crlf",
                                               "crlf",
                                               "-crlf",
                                               "binary",
                                               "text=input",
                                               "ident",
                                               "ident text=auto",
                                               "crlf=input",
                                               "-text eol=crlf",
                                               "!text",
                                               "text=auto eol=lf"};
  std::string rules;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    rules += "d" + std::to_string(i) + "/** " + attributes[i] + "\n";
    for (const auto& [name, content] : contents) {
      const std::string folder = "d" + std::to_string(i) + "/";
      write(folder + "old-crlf-" + name, "old\r\n");
      write(folder + "old-lf-" + name, "old\n");
      write(folder + "old-binary-" + name, std::string("old\0\r\n", 6));
    }
  }
  commit(all_paths());
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    for (const auto& [name, content] : contents) {
      for (const std::string before : {"old-crlf-", "old-lf-", "old-binary-", "new-"}) {
        write("d" + std::to_string(i) + "/" + before + name, content);
      }
    }
  }
  write(".gitattributes", rules);
  git({"config", "core.autocrlf", GetParam()});
  git({"config", "core.safecrlf", "false"});
  const auto expected = blobs_of_git();
  EXPECT_EQ(expected.size(), attributes.size() * contents.size() * 4 + 1);
  const GitCommit made = commit(all_paths());
  EXPECT_THAT(made.filtered, IsEmpty());
  EXPECT_EQ(blobs_of_head(), expected);
  EXPECT_EQ(status(), "");
}

INSTANTIATE_TEST_SUITE_P(Autocrlf, GitLineEndsTest, testing::Values("false", "true", "input"));

TEST_F(GitFiltersTest, AnUnchangedRepositoryWithConvertedLineEndsMakesNoCommit) {
  git({"init", "-q"});
  write(".gitattributes", "* text=auto eol=crlf\n");
  write("a", "1\r\n2\r\n");
  git({"add", "."});
  git({"commit", "-q", "-m", "theirs"});
  EXPECT_EQ(commit({".gitattributes", "a"}).hash, "");
}

}  // namespace
}  // namespace eventq::notebook
