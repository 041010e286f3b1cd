// install_test.cc: projects outside the tree use the files that `cmake --install` writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/file_text.h"
#include "support/http_client.h"
#include "support/process.h"
#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// The output of a command, which must succeed.
std::string must(std::vector<std::string> command, const std::string& directory,
                 const std::vector<std::string>& environment = {}) {
  command.insert(command.begin(), "/usr/bin/env");  // finds it in PATH
  const Finished finished = run({.command = command, .environment = environment, .directory = directory});
  EXPECT_EQ(finished.exit_code, 0) << command[1] << ": " << finished.out << finished.err;
  return finished.out;
}

// Publishes an event with the tag "email" and returns it at its end, as JSON.
std::string ended_event(std::uint16_t port, const std::string& payload) {
  HttpClient client(port);
  const auto ended =
      client.request("POST", "/events", R"({"title":"m","tags":"email","payload":)" + payload + "}",
                     {{"Prefer", "wait=30"}});
  return ended ? ended->body : ended.error().message;
}

std::ptrdiff_t lines_of_example(const std::string& name) {
  const std::string text = content_of(EVENTQ_SOURCE_DIR "/examples/" + name);
  return std::count(text.begin(), text.end(), '\n');
}

class InstallTest : public testing::Test {
 protected:
  void SetUp() override {
    must({EVENTQ_CMAKE, "--install", EVENTQ_BUILD_DIR, "--prefix", prefix_}, outside_);
    fs::copy(EVENTQ_SOURCE_DIR "/tests/install", outside_, fs::copy_options::recursive);
  }

  std::string built_by_cmake(const std::string& project, const std::vector<std::string>& options) {
    const std::string build = outside_ + "/" + project + "_build";
    std::vector<std::string> configure{EVENTQ_CMAKE, "-S", outside_ + "/" + project, "-B", build, "-GNinja"};
    configure.insert(configure.end(), options.begin(), options.end());
    must(configure, outside_);
    must({EVENTQ_CMAKE, "--build", build}, outside_);
    return build;
  }

  // Compiles with g++ and the flags of pkg-config for `package`.
  std::string built_by_pkg_config(const std::string& source, const std::string& package) {
    std::string program = outside_ + "/" + source + "_program";
    must({"sh", "-c",
          "g++ -std=c++20 consumer/" + source + ".cc -o " + program + " $(pkg-config --cflags --libs " +
              package + ")"},
         outside_, {"PKG_CONFIG_PATH=" + prefix_ + "/lib/pkgconfig"});
    return program;
  }

  void expect_works_with_a_server(const std::string& program) {
    ServerProcess server({"--store", "memory:"});
    ASSERT_TRUE(server.start()) << server.log();
    EXPECT_THAT(must({program, "http://127.0.0.1:" + std::to_string(server.port())}, outside_),
                HasSubstr("completed {\"to\":\"a@b\"}"));
  }

  const TemporaryDirectory directory_;
  const std::string outside_ = directory_.file("");
  const std::string prefix_ = directory_.file("prefix");
};

TEST_F(InstallTest, EveryFileIsInItsStandardFolder) {
  for (const char* name : {"bin/eventq",
                           "include/eventq/queue.h",
                           "include/eventq/worker.h",
                           "include/eventq/client.h",
                           "lib/libeventq.a",
                           "lib/libeventq-client.a",
                           "lib/libeventq-worker.a",
                           "lib/libeventq-server.a",
                           "include/eventq/serve.h",
                           "include/eventq/admin.h",
                           "lib/cmake/eventq/eventqConfig.cmake",
                           "lib/cmake/eventq/eventqConfigVersion.cmake",
                           "lib/cmake/eventq/eventqTargets.cmake",
                           "lib/pkgconfig/eventq.pc",
                           "lib/pkgconfig/eventq-client.pc",
                           "lib/pkgconfig/eventq-worker.pc",
                           "lib/pkgconfig/eventq-server.pc",
                           "share/man/man1/eventq.1",
                           "share/bash-completion/completions/eventq",
                           "share/zsh/site-functions/_eventq",
                           "share/fish/vendor_completions.d/eventq.fish",
                           "share/doc/eventq/LICENSE",
                           "share/doc/eventq/README.md"}) {
    EXPECT_GT(fs::exists(prefix_ + "/" + name) ? fs::file_size(prefix_ + "/" + name) : 0, 0U) << name;
  }
}

TEST_F(InstallTest, NoFileContainsAPathOfTheBuildMachine) {
  for (const auto& entry : fs::recursive_directory_iterator(prefix_)) {
    if (!entry.is_regular_file()) continue;
    const std::string bytes = content_of(entry.path());
    for (const std::string folder : {EVENTQ_SOURCE_DIR, EVENTQ_BUILD_DIR}) {
      EXPECT_EQ(bytes.find(folder), bytes.npos) << entry.path() << " contains " << folder;
    }
  }
}

TEST_F(InstallTest, FindPackageGivesTheEmbeddedQueueAndTheWorker) {
  // Moves the files, because they must not contain the prefix they were installed to.
  const std::string moved = directory_.file("moved");
  fs::rename(prefix_, moved);
  const std::string build = built_by_cmake("consumer", {"-DCMAKE_PREFIX_PATH=" + moved});
  EXPECT_EQ(must({build + "/embedded"}, outside_), "handled {\"to\":\"a@b\"}\ncompleted\n");
}

TEST_F(InstallTest, FindPackageGivesTheClientWhereThereIsNoDatabase) {
  const std::string build =
      built_by_cmake("consumer", {"-DCMAKE_PREFIX_PATH=" + prefix_, "-DCLIENT_ONLY=ON"});
  EXPECT_THAT(must({"ldd", build + "/remote"}, outside_),
              Not(AnyOf(HasSubstr("sqlite"), HasSubstr("libpq"))));
  expect_works_with_a_server(build + "/remote");
}

TEST_F(InstallTest, PkgConfigGivesTheEmbeddedQueueAndTheWorker) {
  const std::string program = built_by_pkg_config("embedded", "eventq eventq-worker");
  EXPECT_EQ(must({program}, outside_), "handled {\"to\":\"a@b\"}\ncompleted\n");
}

TEST_F(InstallTest, TheTypedWorkerRunsFromTheInstalledPackage) {
  const std::string build = built_by_cmake(
      "examples", {"-DCMAKE_PREFIX_PATH=" + prefix_, "-DEXAMPLES=" EVENTQ_SOURCE_DIR "/examples"});
  ServerProcess server({"--store", "memory:"});
  ASSERT_TRUE(server.start()) << server.log();
  Process worker({.command = {build + "/typed_worker"},
                  .environment = {"EVENTQ_URL=http://127.0.0.1:" + std::to_string(server.port())},
                  .directory = outside_});

  EXPECT_THAT(ended_event(server.port(), R"({"to":"ann@example.com"})"), HasSubstr("\"COMPLETED\""));
  EXPECT_THAT(ended_event(server.port(), "{}"), HasSubstr("\"FAILED\""));

  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(std::chrono::seconds(60)), 0) << worker.err();
  EXPECT_EQ(worker.out(), "mail to ann@example.com\n");
  EXPECT_LE(lines_of_example("typed_worker.cc"), 40);
}

TEST_F(InstallTest, TheEmbeddedServerRunsFromTheInstalledPackage) {
  const std::string build = built_by_cmake(
      "examples", {"-DCMAKE_PREFIX_PATH=" + prefix_, "-DEXAMPLES=" EVENTQ_SOURCE_DIR "/examples"});
  Process program({.command = {build + "/embedded_server", "0"}, .environment = {}, .directory = outside_});
  const auto port = program.wait_for_line("serving http://127.0.0.1:", std::chrono::seconds(60));
  ASSERT_TRUE(port) << program.err();

  EXPECT_THAT(ended_event(static_cast<std::uint16_t>(std::stoi(*port)), R"({"to":"ann@example.com"})"),
              HasSubstr("\"COMPLETED\""));

  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(std::chrono::seconds(60)), 0) << program.err();
  EXPECT_EQ(program.out(), "mail {\"to\":\"ann@example.com\"}\n");
  EXPECT_LE(lines_of_example("embedded_server.cc"), 40);
}

TEST_F(InstallTest, PkgConfigGivesTheServer) {
  fs::copy(EVENTQ_SOURCE_DIR "/examples/embedded_server.cc", outside_ + "/consumer");
  Process program({.command = {built_by_pkg_config("embedded_server", "eventq-server eventq-worker"), "0"},
                   .environment = {},
                   .directory = outside_});
  EXPECT_TRUE(program.wait_for_line("serving http://127.0.0.1:", std::chrono::seconds(60))) << program.err();
}

TEST_F(InstallTest, PkgConfigGivesTheClient) {
  expect_works_with_a_server(built_by_pkg_config("remote", "eventq-client"));
}

// Checks only that the parent has the targets, because a second build of eventq would take minutes.
TEST_F(InstallTest, AsASubfolderOfAnotherProjectItProvidesOnlyTheLibraries) {
  must({EVENTQ_CMAKE, "-S", outside_ + "/parent", "-B", outside_ + "/build", "-GNinja",
        "-DEVENTQ=" EVENTQ_SOURCE_DIR},
       outside_);
  const std::string targets =
      must({EVENTQ_CMAKE, "--build", outside_ + "/build", "--target", "help"}, outside_);
  EXPECT_THAT(targets, HasSubstr("libeventq.a"));
  EXPECT_THAT(targets, HasSubstr("libeventq-worker.a"));
  EXPECT_THAT(targets, HasSubstr("libeventq-server.a"));
  EXPECT_THAT(targets, Not(HasSubstr("eventq_base_test")));
  EXPECT_THAT(targets, Not(HasSubstr("eventq_bench")));
  const std::string commands = must(
      {"ninja", "-C", outside_ + "/build", "-t", "commands", "CMakeFiles/parent.dir/main.cc.o"}, outside_);
  EXPECT_THAT(commands, HasSubstr("-std=")) << "how the parent compiles";
  EXPECT_THAT(commands, Not(HasSubstr("-Werror")));
  EXPECT_THAT(commands, Not(HasSubstr("-fPIE")));
}

}  // namespace
}  // namespace eventq
