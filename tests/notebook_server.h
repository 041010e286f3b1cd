// notebook_server.h: runs the real server with one notebook, for tests that kill it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/steady.h"
#include "support/http_client.h"
#include "support/json_lines.h"
#include "support/process.h"
#include "support/server_process.h"

namespace eventq {

class NotebookServer {
 public:
  // `settings` is the notebook's settings as JSON. The folder is `notes` in the server's directory.
  explicit NotebookServer(std::string settings = "{}")
      : server_({"--notebooks-allow", "."}), settings_(std::move(settings)) {
    std::filesystem::create_directory(root());
  }

  // The first start adds the notebook.
  void start() {
    ASSERT_TRUE(server_.start()) << server_.log();
    client_ = std::make_unique<HttpClient>(server_.port(), std::chrono::minutes(5));
    if (std::exchange(added_, true)) return;
    const auto added =
        call("POST", "/notebooks", R"({"name":"n","path":")" + root() + R"(","settings":)" + settings_ + "}");
    ASSERT_EQ(added.at("name"), "\"n\"") << server_.log();
  }

  JsonLines call(const std::string& method, const std::string& target, const std::string& body = "") {
    auto response = client_->request(method, target, body);
    EXPECT_TRUE(response) << (response ? "" : response.error().message) << server_.log();
    if (!response) return {};
    JsonLines lines = json_lines(response->body);
    lines["http status"] = std::to_string(response->status);
    return lines;
  }
  // The same call; its answer must have this status.
  JsonLines expect(const std::string& status, const std::string& method, const std::string& target,
                   const std::string& body = "") {
    JsonLines lines = call(method, target, body);
    EXPECT_EQ(lines["http status"], status)
        << method << " " << target << " " << lines["message"] << lines["error"];
    return lines;
  }

  JsonLines make(const std::string& path, const std::string& content) {
    return expect("201", "POST", "/notebooks/n/files?sync=true",
                  R"({"path":")" + path + R"(","content":")" + content + "\"}");
  }
  void commit() { expect("200", "POST", "/events/commit?notebook=n&sync=true"); }
  std::string end_of(const std::string& event) {
    return expect("200", "POST", "/events/" + event + "/wait")["status"];
  }

  // The file's id; empty when the file has no row.
  std::string id_of(const std::string& path) {
    for (const auto& [recorded, id] : files("all")) {
      if (recorded == path) return id;
    }
    return "";
  }
  // Paths and ids of all files; fails when a path occurs twice.
  std::map<std::string, std::string> files(const std::string& kind = "file") {
    std::map<std::string, std::string> found;
    std::string after;
    for (bool more = true; more;) {
      auto page = expect("200", "GET", "/notebooks/n/files?limit=1000&kind=" + kind + "&after=" + after);
      std::size_t count = 0;
      for (;; ++count) {
        const std::string prefix = "files[" + std::to_string(count) + "].";
        if (!page.contains(prefix + "path")) break;
        const std::string quoted = page[prefix + "path"];
        after = quoted.substr(1, quoted.size() - 2);
        EXPECT_TRUE(found.emplace(after, page[prefix + "id"]).second) << "two records of " << after;
      }
      more = count == 1000;
    }
    return found;
  }

  // Polls `holds` every `pause` until it is true; the test fails after five minutes.
  template <typename Condition>
  void wait_until(const Condition& holds, const char* what,
                  std::chrono::milliseconds pause = std::chrono::milliseconds(20)) {
    const SteadyTime start = steady_now();
    while (!holds() && millis_since(start) < std::chrono::minutes(5)) {
      ASSERT_EQ(server_.wait(pause), std::nullopt) << server_.log();
    }
    EXPECT_TRUE(holds()) << what << server_.log();
  }

  [[nodiscard]] std::string root() const { return server_.file("notes"); }
  void put(const std::string& path, const std::string& content) const {
    const std::filesystem::path full = root() + "/" + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << content;
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    std::ifstream file(root() + "/" + path);
    return file ? std::string(std::istreambuf_iterator<char>(file), {}) : "(absent)";
  }
  std::string git(const std::string& arguments) const {
    Process process({{"/bin/sh", "-c", "git " + arguments}, {"HOME=" + server_.file("")}, root()});
    EXPECT_EQ(process.wait(std::chrono::minutes(5)), 0) << arguments << process.err();
    return process.out();
  }

  ServerProcess& server() { return server_; }

 private:
  ServerProcess server_;
  std::string settings_;
  bool added_ = false;
  std::unique_ptr<HttpClient> client_;
};

}  // namespace eventq
