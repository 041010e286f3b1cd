// config_test.cc: tests of config.h, and of the table in settings.h through it.
#include "server/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>

#include "support/temporary_directory.h"

namespace eventq::server {
namespace {

using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""h;
using testing::ElementsAre;
using testing::HasSubstr;

class ConfigTest : public testing::Test {
 protected:
  // Loads the configuration with `text` as the file of --config.
  Result<ServerConfig> load_file(std::string_view text) {
    flags_.config = directory_.file("eventq.toml");
    std::ofstream(*flags_.config) << text;
    return load_config(flags_, variables_);
  }

  // The error message, without the folder of the file; the printed settings if there was no error.
  std::string complaint(const Result<ServerConfig>& loaded) const {
    if (loaded) return "no complaint:\n" + print_config(*loaded);
    std::string message = loaded.error().message;
    const std::string folder = directory_.file("");
    const std::size_t found = message.find(folder);
    return found == std::string::npos ? message : message.erase(found, folder.size());
  }

  const TemporaryDirectory directory_;
  ServeFlags flags_;
  Variables variables_;
};

TEST_F(ConfigTest, HasDefaults) {
  const auto config = load_config({}, {});

  ASSERT_TRUE(config);
  const ServerSettings& settings = config->settings;
  EXPECT_EQ(format(settings.listen), "127.0.0.1:8080");
  EXPECT_FALSE(settings.allow_remote);
  EXPECT_THAT(settings.allow_origin, testing::IsEmpty());
  EXPECT_THAT(settings.stores, ElementsAre("sqlite:eventq.db"));
  EXPECT_FALSE(settings.migrate);
  EXPECT_EQ(settings.queue.retry.base, 5min);
  EXPECT_EQ(settings.queue.lease, 60s);
  EXPECT_EQ(settings.queue.max_retries, 3);
  EXPECT_EQ(settings.queue.max_attempts, 20);
  EXPECT_EQ(settings.queue.archive_dir, "");
  EXPECT_EQ(settings.queue.stale_after, 30s);
  EXPECT_EQ(settings.queue.start_within, 5min);
  EXPECT_THAT(settings.notebooks_allow, testing::IsEmpty());
  EXPECT_EQ(settings.notebooks_state, "");
  EXPECT_THAT(settings.queue.queues, testing::IsEmpty());
}

TEST_F(ConfigTest, ReadsEverySettingFromAFile) {
  const auto config = load_file(
      "# Ours.\n"
      "listen = \"0.0.0.0:80\"\n"
      "allow_remote = true\n"
      "allow_origin = [\"https://app.example.com\", \"http://localhost:5173\"]\n"
      "store = 'sqlite:C:\\a \"b\".db'\n"
      "migrate = true\n"
      "retry_delay = \"1h\"\n"
      "retry_kind = \"exponential\"\n"
      "retry_delay_cap = \"2h\"\n"
      "lease = \"1m30s\"\n"
      "max_retries = 0\n"
      "max_attempts = 1_000\n"
      "archive_dir = \"old events\"\n"
      "stale_after = \"10s\"\n"
      "start_within = \"1m\"\n"
      "[queues.mail]\n"
      "maxRetries = 7\n"
      "[notebooks]\n"
      "allow = [\"notes\", \"/srv/b c\"]\n"
      "state = \"known\"\n");

  ASSERT_TRUE(config) << complaint(config);
  const ServerSettings& settings = config->settings;
  EXPECT_EQ(format(settings.listen), "0.0.0.0:80");
  EXPECT_TRUE(settings.allow_remote);
  EXPECT_THAT(settings.allow_origin, ElementsAre("https://app.example.com", "http://localhost:5173"));
  EXPECT_THAT(settings.stores, ElementsAre("sqlite:C:\\a \"b\".db"));
  EXPECT_TRUE(settings.migrate);
  EXPECT_EQ(settings.queue.retry.base, 1h);
  EXPECT_EQ(settings.queue.retry.kind, RetryPolicy::Kind::exponential);
  EXPECT_EQ(settings.queue.retry.cap, 2h);
  EXPECT_EQ(settings.queue.lease, 90s);
  EXPECT_EQ(settings.queue.max_retries, 0);
  EXPECT_EQ(settings.queue.max_attempts, 1000);
  EXPECT_EQ(settings.queue.archive_dir, "old events");
  EXPECT_EQ(settings.queue.stale_after, 10s);
  EXPECT_EQ(settings.queue.start_within, 1min);
  EXPECT_THAT(settings.queue.queues, ElementsAre(testing::Pair("mail", QueueConfig{.max_retries = 7})));
  EXPECT_THAT(settings.notebooks_allow, ElementsAre("notes", "/srv/b c"));
  EXPECT_EQ(settings.notebooks_state, "known");
}

TEST_F(ConfigTest, PrefersFlagsToVariablesToTheFileToDefaults) {
  struct Case {
    const char* file;
    std::optional<const char*> variable;
    std::optional<const char*> flag;
    int max_retries;
    const char* origin;
  };
  for (const Case& row : {
           Case{"", {}, {}, 3, "default"},
           Case{"max_retries = 4", {}, {}, 4, "eventq.toml:1"},
           Case{"max_retries = 4", "5", {}, 5, "EVENTQ_MAX_RETRIES"},
           Case{"max_retries = 4", {}, "6", 6, "--max-retries"},
           Case{"max_retries = 4", "5", "6", 6, "--max-retries"},
           Case{"", "5", "6", 6, "--max-retries"},
           Case{"", "5", {}, 5, "EVENTQ_MAX_RETRIES"},
           Case{"", {}, "6", 6, "--max-retries"},
       }) {
    variables_.clear();
    flags_ = {};
    if (row.variable) variables_["EVENTQ_MAX_RETRIES"] = *row.variable;
    if (row.flag) flags_.values["max_retries"] = *row.flag;

    const auto config = load_file(row.file);

    ASSERT_TRUE(config) << complaint(config);
    EXPECT_EQ(config->settings.queue.max_retries, row.max_retries);
    EXPECT_THAT(origin_of(*config, "max_retries"), testing::EndsWith(row.origin));
    EXPECT_EQ(origin_of(*config, "max_attempts"), "default");
  }
}

TEST_F(ConfigTest, ReadsTheFileOfTheVariableUnlessAFlagNamesOne) {
  const std::string file = directory_.file("other.toml");
  std::ofstream(file) << "max_retries = 9\n";
  variables_["EVENTQ_CONFIG"] = file;

  EXPECT_EQ(load_config({}, variables_)->settings.queue.max_retries, 9);
  EXPECT_EQ(load_file("max_retries = 8")->settings.queue.max_retries, 8);
}

TEST_F(ConfigTest, AnErrorInAFileNamesTheLineAndAValidValue) {
  struct Case {
    const char* file;
    const char* complaint;
  };
  for (const Case& row : {
           Case{"\nleese = \"1s\"\n", "eventq.toml:2: there is no setting \"leese\"; did you mean lease?"},
           Case{"retry-delay = \"1s\"\n",
                "eventq.toml:1: there is no setting \"retry-delay\"; did you mean retry_delay?"},
           Case{"Lease = \"1s\"\n", "eventq.toml:1: there is no setting \"Lease\"; did you mean lease?"},
           Case{"lease = \n",
                "eventq.toml:1: not valid TOML: Error while parsing key-value pair: "
                "expected value, saw '\\n'."},
           Case{"color = 1\n",
                "eventq.toml:1: there is no setting \"color\"; `eventq serve --help` lists the settings."},
           Case{"[server]\nlisten = \"127.0.0.1:1\"\n",
                "eventq.toml:1: there is no setting \"server\"; `eventq serve --help` lists the settings."},
           Case{"lease.min = \"1s\"\n",
                "eventq.toml:1: lease must be a whole number and its unit (ms, s, m, h or d), such as "
                "\"1m\", not "
                "a table."},
           Case{"lease = \"1s\"\nb = 1\na = 1\n",
                "eventq.toml:2: there is no setting \"b\"; `eventq serve --help` lists the settings."},
           Case{"listen = 8080\n",
                "eventq.toml:1: listen must be ADDRESS:PORT with an IPv4 address, an IPv6 address in "
                "brackets, or "
                "localhost, such as \"127.0.0.1:8080\", not 8080."},
           Case{"lease = 60\n",
                "eventq.toml:1: lease must be a whole number and its unit (ms, s, m, h or d), such as "
                "\"1m\", not "
                "60."},
           Case{"lease = 1.5\n",
                "eventq.toml:1: lease must be a whole number and its unit (ms, s, m, h or d), such as "
                "\"1m\", not "
                "a number "
                "with a fraction."},
           Case{"lease = 07:32:00\n",
                "eventq.toml:1: lease must be a whole number and its unit (ms, s, m, h or d), such as "
                "\"1m\", not "
                "a date or "
                "time."},
           Case{"max_retries = \"3\"\n",
                "eventq.toml:1: max_retries must be a whole number, such as 3, not \"3\"."},
           Case{"max_retries = true\n",
                "eventq.toml:1: max_retries must be a whole number, such as 3, not true."},
           Case{"max_retries = [3]\n",
                "eventq.toml:1: max_retries must be a whole number, such as 3, not an array."},
           Case{"max_retries = -1\n", "eventq.toml:1: max_retries is -1; it must be from 0 to 1000."},
           Case{"allow_remote = \"true\"\n",
                "eventq.toml:1: allow_remote must be true or false, not \"true\"."},
           Case{"store = \"\"\n",
                "eventq.toml:1: store must be sqlite:PATH, memory: or postgres://USER@HOST/DB, such as "
                "\"sqlite:eventq.db\", not \"\"."},
           Case{"store = \"a\\u0000b\"\n",
                "eventq.toml:1: store must be sqlite:PATH, memory: or postgres://USER@HOST/DB, such as "
                "\"sqlite:eventq.db\", not \"a\\u0000b\"."},
           Case{"store = \"postgrs://me:secret@host/db\"\n",
                "eventq.toml:1: store must be sqlite:PATH, memory: or postgres://USER@HOST/DB, such as "
                "\"sqlite:eventq.db\", not \"postgrs://me@host/db\"."},
           Case{"store = []\n",
                "eventq.toml:1: store must be sqlite:PATH, memory: or postgres://USER@HOST/DB, such as "
                "\"sqlite:eventq.db\", not an array."},
           Case{"store = [\"postgres://a/b\", 3]\n",
                "eventq.toml:1: store must be sqlite:PATH, memory: or postgres://USER@HOST/DB, such as "
                "\"sqlite:eventq.db\", not an array."},
           Case{"store = [\"sqlite:a\", \"postgres://a/b\"]\n",
                "eventq.toml:1: several stores are shards, and only PostgreSQL databases can be shards. Give "
                "one "
                "sqlite:PATH, or only postgres:// URLs."},
           Case{"store = \"a\\nb\"\n",
                "eventq.toml:1: store must be sqlite:PATH, memory: or postgres://USER@HOST/DB, such as "
                "\"sqlite:eventq.db\", not \"a\\u000Ab\"."},
           Case{"archive_dir = \"a\\nb\"\n",
                "eventq.toml:1: archive_dir must be a path on one line, or empty, such as \"\", not "
                "\"a\\u000Ab\"."},
           Case{"stale_after = \"0s\"\n", "eventq.toml:1: stale_after is 0s; it must be from 1ms to 365d."},
           Case{"start_within = \"366d\"\n",
                "eventq.toml:1: start_within is 366d; it must be from 1ms to 365d."},
           Case{"[queus.mail]\n", "eventq.toml:1: there is no setting \"queus\"; did you mean queues?"},
           Case{"[notebooks]\nallowed = [\"a\"]\n",
                "eventq.toml:2: there is no setting \"notebooks.allowed\"; did you mean notebooks.allow?"},
           Case{"[notebooks]\nallow = 3\n",
                "eventq.toml:2: notebooks.allow must be the path of a folder, or an array of them, such as "
                "[], not 3."},
           Case{"notebooks.allow = [\"\", \"a\"]\n",
                "eventq.toml:1: notebooks.allow must be the path of a folder, or an array of them, such as "
                "[], not an array."},
           Case{"notebooks.state = \"a\\nb\"\n",
                "eventq.toml:1: notebooks.state must be a path on one line, or empty, such as \"\", not "
                "\"a\\u000Ab\"."},
           Case{"store = [\"postgres://a/1\", \"postgres://a/2\"]\n[notebooks]\nallow = \"notes\"\n",
                "eventq.toml:3: notebooks need a single store, because only one database can keep the "
                "order of their changes. Give one --store, or run notebooks on another server."},
           Case{"queues.mail.maxRetries = -1\nlease = \"1m\"\n",
                "eventq.toml:1: queue \"mail\": maxRetries is -1; it must be from 0 to 1000."},
           Case{"listen = \"0.0.0.0:1\"\n",
                "eventq.toml:1: 0.0.0.0:1 can be reached from other machines, and eventq has no "
                "authentication yet. "
                "Listen on 127.0.0.1 or [::1], or give --allow-remote if every machine that can reach it may "
                "publish, read "
                "and cancel."},
       }) {
    EXPECT_EQ(complaint(load_file(row.file)), row.complaint);
  }
}

TEST_F(ConfigTest, ASyntaxErrorNamesTheLine) {
  EXPECT_THAT(complaint(load_file("lease = \"1s\"\nmax_retries = \n")),
              testing::StartsWith("eventq.toml:2: "));
  EXPECT_THAT(complaint(load_file("lease = \"1s\"\nlease = \"2s\"\n")),
              testing::StartsWith("eventq.toml:2: "));
  EXPECT_THAT(complaint(load_file("# \xff\n")), testing::StartsWith("eventq.toml:1: "));
}

TEST_F(ConfigTest, AnUnreadableFileIsAnError) {
  flags_.config = directory_.file("none.toml");
  EXPECT_EQ(complaint(load_config(flags_, {})),
            "Cannot read the configuration file \"none.toml\": No such file or directory.");

  flags_.config = directory_.file("");
  EXPECT_EQ(complaint(load_config(flags_, {})), "Cannot read the configuration file \"\": Is a directory.");

  EXPECT_EQ(complaint(load_file(std::string(1024 * 1024 + 1, '\n'))),
            "Cannot read the configuration file \"eventq.toml\": it has more than 1 MiB.");
}

TEST_F(ConfigTest, AnErrorNamesTheVariableOrTheFlag) {
  struct Case {
    const char* name;  // of the setting
    const char* variable;
    const char* flag;
    const char* value;
    const char* complaint;  // the message after the variable and the name, or after the flag
  };
  for (const Case& row : {
           Case{"listen", "EVENTQ_LISTEN", "--listen", "8080",
                " must be ADDRESS:PORT with an IPv4 address, an IPv6 address in brackets, or "
                "localhost, such "
                "as \"127.0.0.1:8080\", not \"8080\"."},
           Case{"allow_remote", "EVENTQ_ALLOW_REMOTE", "--allow-remote", "yes",
                " must be true or false, not \"yes\"."},
           Case{"store", "EVENTQ_STORE", "--store", "a\xff",
                " must be sqlite:PATH, memory: or postgres://USER@HOST/DB, such as "
                "\"sqlite:eventq.db\", not \"a\xff\"."},
           Case{"retry_delay", "EVENTQ_RETRY_DELAY", "--retry-delay", "5",
                " must be a whole number and its unit (ms, s, m, h or d), such as \"5m\", not "
                "\"5\"."},
           Case{"retry_kind", "EVENTQ_RETRY_KIND", "--retry-kind", "linear",
                " must be fixed or exponential, such as \"fixed\", not \"linear\"."},
           Case{"allow_origin", "EVENTQ_ALLOW_ORIGIN", "--allow-origin", "*",
                " must be an origin as browsers send it, such as https://app.example.com or "
                "http://localhost:5173, without a path; * is refused, because callers are not authenticated, "
                "not "
                "\"*\"."},
           Case{"retry_delay_cap", "EVENTQ_RETRY_DELAY_CAP", "--retry-delay-cap", "366d",
                " is 366d; it must be from 0s to 365d."},
           Case{"retry_delay", "EVENTQ_RETRY_DELAY", "--retry-delay", "366d",
                " is 366d; it must be from 0s to 365d."},
           Case{"lease", "EVENTQ_LEASE", "--lease", "",
                " must be a whole number and its unit (ms, s, m, h or d), such as \"1m\", not \"\"."},
           Case{"lease", "EVENTQ_LEASE", "--lease", "99ms", " is 99ms; it must be from 100ms to 365d."},
           Case{"max_retries", "EVENTQ_MAX_RETRIES", "--max-retries", "three",
                " must be a whole number, such as 3, not \"three\"."},
           Case{"max_retries", "EVENTQ_MAX_RETRIES", "--max-retries", "1001",
                " is 1001; it must be from 0 to 1000."},
           Case{"max_attempts", "EVENTQ_MAX_ATTEMPTS", "--max-attempts", "0",
                " is 0; it must be from 1 to 1000000."},
           Case{"max_attempts", "EVENTQ_MAX_ATTEMPTS", "--max-attempts", "1e3",
                " must be a whole number, such as 20, not \"1e3\"."},
           Case{"max_attempts", "EVENTQ_MAX_ATTEMPTS", "--max-attempts", "9000000000",
                " is 2147483647; it must be from 1 to 1000000."},
       }) {
    const auto by_variable = load_config({}, {{row.variable, row.value}});
    EXPECT_EQ(complaint(by_variable), std::string(row.variable) + ": " + row.name + row.complaint);
    EXPECT_EQ(by_variable.error().field, "");
    const auto by_flag = load_config({.values = {{row.name, row.value}}}, {});
    EXPECT_EQ(complaint(by_flag), std::string(row.flag) + row.complaint);
    EXPECT_EQ(by_flag.error().field, row.flag);
  }
}

TEST_F(ConfigTest, OtherDefaultsAreOverriddenByTheFileTheVariablesAndTheFlags) {
  flags_.defaults = {
      {"retry_delay", "1s"}, {"retry_kind", "exponential"}, {"max_retries", "7"}, {"lease", "2s"}};
  flags_.values = {{"lease", "4s"}};

  const auto config = load_file("retry_delay = \"3s\"\n");

  ASSERT_TRUE(config) << complaint(config);
  EXPECT_EQ(config->settings.queue.retry.base, 3s);
  EXPECT_EQ(config->settings.queue.retry.kind, RetryPolicy::Kind::exponential);
  EXPECT_EQ(config->settings.queue.max_retries, 7);
  EXPECT_EQ(config->settings.queue.lease, 4s);
  EXPECT_EQ(origin_of(*config, "retry_kind"), "default");
}

TEST_F(ConfigTest, AnArrayOfStoresKeepsItsOrder) {
  const auto config = load_file("store = [\"postgres://b/1\", \"postgres://me:secret@a/2\"]\n");

  ASSERT_TRUE(config) << complaint(config);
  EXPECT_THAT(config->settings.stores, ElementsAre("postgres://b/1", "postgres://me:secret@a/2"));
  EXPECT_THAT(print_config(*config),
              testing::HasSubstr("\nstore = [\"postgres://b/1\", \"postgres://me@a/2\"]  # "));
}

TEST_F(ConfigTest, ChecksOverriddenValuesToo) {
  flags_.values["lease"] = "1m";

  EXPECT_EQ(complaint(load_file("lease = \"1ms\"\n")),
            "eventq.toml:1: lease is 1ms; it must be from 100ms to 365d.");
}

TEST_F(ConfigTest, AllowRemotePermitsOtherAddresses) {
  EXPECT_TRUE(load_config({.values = {{"listen", "[::]:80"}, {"allow_remote", "true"}}}, {}));
  EXPECT_TRUE(load_config({.values = {{"listen", "[::]:80"}}}, {{"EVENTQ_ALLOW_REMOTE", "true"}}));
  EXPECT_FALSE(load_config({.values = {{"allow_remote", "false"}, {"listen", "[::]:80"}}},
                           {{"EVENTQ_ALLOW_REMOTE", "true"}}));
}

TEST_F(ConfigTest, ReportsUnknownVariables) {
  const auto config = load_config(
      {}, {{"EVENTQ_PORT", "1"}, {"EVENTQ_URL", "x"}, {"EVENTQ_LEASE", "1s"}, {"EVENTQ_LEESE", "1s"}});

  ASSERT_TRUE(config) << complaint(config);
  EXPECT_THAT(config->unknown_variables, ElementsAre("EVENTQ_LEESE", "EVENTQ_PORT"));
}

TEST_F(ConfigTest, PrintsDefaultsAsAFile) {
  EXPECT_EQ(
      print_config(*load_config({}, {})),
      "# The address to listen on; port 0 is any free port.\n"
      "listen = \"127.0.0.1:8080\"  # default\n"
      "# Accept connections from other machines, although there is no authentication.\n"
      "allow_remote = false  # default\n"
      "# Let pages of this site use the API in a browser, such as https://app.example.com; may be given "
      "several "
      "times.\n"
      "allow_origin = []  # default\n"
      "# Where events are stored: sqlite:PATH, memory: (lost at exit) or postgres://USER@HOST/DB; if given "
      "several times, each database is a shard, in this order.\n"
      "store = \"sqlite:eventq.db\"  # default\n"
      "# Migrate PostgreSQL databases to this eventq's schema first; SQLite files are always migrated.\n"
      "migrate = false  # default\n"
      "# How long a failed event waits before it may run again.\n"
      "retry_delay = \"5m\"  # default\n"
      "# fixed: every wait is retry_delay; exponential: it doubles with each failure, up to "
      "retry_delay_cap.\n"
      "retry_kind = \"fixed\"  # default\n"
      "# The longest wait of exponential retries.\n"
      "retry_delay_cap = \"1h\"  # default\n"
      "# How long a worker may be silent before another worker gets its event.\n"
      "lease = \"1m\"  # default\n"
      "# The reported failure that reaches this number is final.\n"
      "max_retries = 3  # default\n"
      "# Claims in a row without a report before an event fails.\n"
      "max_attempts = 20  # default\n"
      "# The folder for expired events; empty: they are not archived.\n"
      "archive_dir = \"\"  # default\n"
      "# How long a worker may be silent before it is shown as stale, and not ask for events before it is "
      "idle.\n"
      "stale_after = \"30s\"  # default\n"
      "# How long a worker may hold events without starting one before it is shown as stale.\n"
      "start_within = \"5m\"  # default\n"
      "# A folder that may contain notebooks; may be given several times; without it notebooks are "
      "disabled.\n"
      "notebooks.allow = []  # default\n"
      "# The file for the state of notebooks; empty: FILE.notebooks beside sqlite:FILE, else "
      "eventq.notebooks.\n"
      "notebooks.state = \"\"  # default\n");
}

TEST_F(ConfigTest, TheStateOfNotebooksIsBesideTheStoreByDefault) {
  ServerSettings settings;
  EXPECT_EQ(notebooks_state_file(settings), "eventq.db.notebooks");
  settings.stores = {"sqlite:/var/lib/eventq/a.db"};
  EXPECT_EQ(notebooks_state_file(settings), "/var/lib/eventq/a.db.notebooks");
  settings.stores = {"postgres://db/eventq"};
  EXPECT_EQ(notebooks_state_file(settings), "eventq.notebooks");
  settings.notebooks_state = "known";
  EXPECT_EQ(notebooks_state_file(settings), "known");
}

TEST_F(ConfigTest, AnEmptyValueDisablesNotebooks) {
  variables_["EVENTQ_NOTEBOOKS_ALLOW"] = "";

  const auto config = load_file("[notebooks]\nallow = [\"notes\"]\n");

  ASSERT_TRUE(config) << complaint(config);
  EXPECT_THAT(config->settings.notebooks_allow, testing::IsEmpty());
}

TEST_F(ConfigTest, PrintsTheSettingsOfQueuesLast) {
  const auto config = load_file(
      "[queues.\"a/b\"]\n"
      "retention = { failedSeconds = 60 }\n"
      "[queues.a]\n");

  ASSERT_TRUE(config) << complaint(config);
  const std::string file = directory_.file("eventq.toml");
  EXPECT_THAT(print_config(*config), testing::EndsWith("\n\n[queues.a]  # " + file +
                                                       ":3\n"
                                                       "\n[queues.\"a/b\"]  # " +
                                                       file +
                                                       ":1\n"
                                                       "retention.failedSeconds = 60\n"));
}

TEST_F(ConfigTest, AnEmptyValueDisablesTheArchive) {
  variables_["EVENTQ_ARCHIVE_DIR"] = "";

  const auto config = load_file("archive_dir = \"old\"\n");

  ASSERT_TRUE(config) << complaint(config);
  EXPECT_EQ(config->settings.queue.archive_dir, "");
}

TEST_F(ConfigTest, ThePrintedSettingsCanBeReadBack) {
  const ServeFlags flags{.values = {{"listen", "[::]:0"},
                                    {"allow_remote", "true"},
                                    {"store", "sqlite:/a \"b\"\\c\u00e9#.db"},
                                    {"migrate", "true"},
                                    {"allow_origin", std::string("https://a.example\0http://b:1", 28)},
                                    {"retry_delay", "1h1ms"},
                                    {"retry_kind", "exponential"},
                                    {"retry_delay_cap", "2h"},
                                    {"lease", "365d"},
                                    {"max_retries", "1000"},
                                    {"max_attempts", "1000000"},
                                    {"archive_dir", "/a \"b\""},
                                    {"stale_after", "1ms"},
                                    {"start_within", "365d"},
                                    {"notebooks.allow", std::string("a\0b \"c\"", 7)},
                                    {"notebooks.state", "known"}}};
  flags_ = flags;
  const auto printed = load_file("[queues.\"a/b\"]\nmaxRetries = 7\nretry.jitter = 0.2\n[queues.c]\n");
  ASSERT_TRUE(printed) << complaint(printed);

  flags_ = {};
  const auto read = load_file(print_config(*printed));

  ASSERT_TRUE(read) << complaint(read);
  EXPECT_EQ(read->settings.queue.queues, printed->settings.queue.queues);
  EXPECT_EQ(read->settings.queue.queues.size(), 2U);
  for (const ServerSetting& setting : all_settings()) {
    EXPECT_EQ(setting.text(read->settings), setting.text(printed->settings)) << setting.name;
    EXPECT_NE(setting.text(read->settings), setting.text(ServerSettings{})) << setting.name;
  }
}

TEST_F(ConfigTest, ThePrintedSettingsCanBeReadBackWhateverTheNameOfTheFile) {
  flags_.config = directory_.file("a\nlease = 1\xff.toml");
  std::ofstream(*flags_.config) << "lease = \"7s\"\n";
  const auto printed = load_config(flags_, {});
  ASSERT_TRUE(printed) << complaint(printed);

  const auto read = load_file(print_config(*printed));

  ASSERT_TRUE(read) << complaint(read);
  EXPECT_EQ(read->settings.queue.lease, 7s);
}

TEST_F(ConfigTest, ReadsTheEnvironment) {
  ASSERT_EQ(setenv("EVENTQ_TEST_A", "b=c", 1), 0);
  ASSERT_EQ(setenv("EVENTQTEST", "x", 1), 0);

  const Variables variables = read_environment();

  EXPECT_EQ(variables.count("EVENTQTEST"), 0U);
  ASSERT_EQ(variables.count("EVENTQ_TEST_A"), 1U);
  EXPECT_EQ(variables.at("EVENTQ_TEST_A"), "b=c");
}

}  // namespace
}  // namespace eventq::server
