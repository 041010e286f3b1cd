// with_postgres.cc: runs a command while a cluster for tests runs: with_postgres COMMAND [ARGUMENT]…
//
// The command finds it by EVENTQ_TEST_POSTGRES; see postgres_cluster.h.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "support/postgres_cluster.h"

int main(int count, char** words) {
  if (count < 2) {
    std::fputs("usage: with_postgres COMMAND [ARGUMENT]...\n", stderr);
    return 2;
  }
  const eventq::OwnCluster cluster(eventq::quick_settings());
  std::filesystem::create_symlink(eventq::pristine_cluster(), cluster.socket_folder() + "/pristine");
  // Ctrl-C is for the command; this program ends after it.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    setenv("EVENTQ_TEST_POSTGRES", cluster.socket_folder().c_str(), 1);
    execvp(words[1], words + 1);
    std::perror(words[1]);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
