// connection.cc: see connection.h. Uses libpq in pipeline mode and without blocking calls. Each wait is a
// poll() on the socket and on an eventfd, so that other threads can end it. Only connect() blocks inside
// libpq, which gives up each address after connect_timeout.
#include "store/postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <functional>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/steady.h"
#include "generated/postgres_sql.h"
#include "store/postgres/sqlstate.h"

namespace eventq::postgres {

struct FreeResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, FreeResult>;

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using ConnectionPtr = std::unique_ptr<PGconn, CloseConnection>;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

namespace {

constexpr Millis kConnectPatience{2000};

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using OptionsPtr = std::unique_ptr<PQconninfoOption, FreeOptions>;

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string() : std::string(text);
}

// The server closes the connection after an error of these severities.
bool is_final(const std::string& severity) { return severity == "FATAL" || severity == "PANIC"; }

// Keep-alives detect a dead peer within seconds, even while the connection is idle. The URL overrides each of
// these settings.
const std::vector<std::pair<std::string, std::string>> kDefaults = {
    {"connect_timeout", std::to_string(kConnectPatience.count() / 1000)},
    {"fallback_application_name", "eventq"},
    {"client_encoding", "UTF8"},
    {"keepalives_idle", "5"},
    {"keepalives_interval", "2"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "10000"},
};

// Returns where the user and password begin and end in `url`; an empty range if there are none. If the scheme
// is misspelt, all text before the @ counts, so that no password is shown.
std::pair<std::size_t, std::size_t> find_user(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t user = scheme == url.npos ? 0 : scheme + 3;
  const std::size_t at = url.rfind('@', url.find('?'));
  if (url.starts_with("sqlite:") || at == url.npos || at < user) return {0, 0};
  return {user, at};
}

// Does not include libpq's message: it quotes the text that libpq could not parse, which may be part of the
// password.
Error no_url(const std::string& url) {
  return Error{
      ErrorCode::invalid_argument,
      "The store " + without_password(url) +
          " is not a PostgreSQL URL. Write postgres://user@host:5432/database, with / and @ in a name or "
          "password as %2F and %40.",
      "store"};
}

Result<ConnectionPtr> connect(const std::string& url) {
  const auto [user, at] = find_user(url);
  // libpq ends the user and password at an unescaped / or @, and would take the rest of the password for a
  // host.
  if (url.substr(user, at - user).find_first_of("/@") != url.npos) return no_url(url);
  const OptionsPtr options(PQconninfoParse(url.c_str(), nullptr));
  if (options == nullptr) return no_url(url);
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : kDefaults) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  // libpq uses the last value of a keyword, so the URL overrides the defaults.
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    keys.push_back(option->keyword);
    values.push_back(option->val);
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  ConnectionPtr connection(PQconnectdbParams(keys.data(), values.data(), 0));
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    return cannot_connect(without_password(url), PQerrorMessage(connection.get()));
  }
  // Other encodings lack characters: an event with such a character would fail, and with it its whole batch.
  // SQL_ASCII stores bytes unchanged.
  const char* const encoding = PQparameterStatus(connection.get(), "server_encoding");
  if (encoding != nullptr && encoding != std::string_view("UTF8") &&
      encoding != std::string_view("SQL_ASCII")) {
    return Error{ErrorCode::conflict,
                 "The database " + without_password(url) + " stores text as " + encoding +
                     ", which lacks some characters. Create a database with ENCODING 'UTF8'.",
                 "store"};
  }
  return connection;
}

}  // namespace

struct PgConnection::Pipeline {
  explicit Pipeline(ConnectionPtr opened) : connection(std::move(opened)) {}

  // Where and why an exchange failed.
  struct ExchangeFailure {
    Error error;
    std::size_t call = 0;  // index of the call that failed
    bool lost = false;     // the connection broke before the server answered this call
    bool final = false;    // the server closes the connection after this error
  };
  // A message that was sent: it either prepares the statement of a call or runs it.
  struct SentStatement {
    std::size_t call = 0;
    bool prepares = false;
  };
  enum class WakeReason { socket, alarm, late };

  const ConnectionPtr connection;
  const Descriptor alarm{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> interrupted = false;
  std::unordered_map<std::string, Oid> record_types;  // oids by name; read on first use
  bool broken = false;
  bool warned = false;  // a WARNING arrived since this was set to false
  std::optional<Millis> patience;
  std::unordered_map<std::string, std::string, TextHash, std::equal_to<>>
      names;  // of prepared statements, by their SQL
  std::uint64_t last_name = 0;
  std::size_t round_trips = 0;

  Error lost(std::string_view words) {
    broken = true;
    return unavailable(words);
  }
  Error lost() { return lost(PQerrorMessage(connection.get())); }

  [[nodiscard]] std::optional<SteadyTime> end_of_patience() const {
    if (!patience) return std::nullopt;
    return steady_now() + *patience;
  }

  WakeReason wait(bool writes, std::optional<SteadyTime> until) const;
  Result<ResultPtr> next(std::optional<SteadyTime> until);
  void check_for_end();
  std::optional<ExchangeFailure> send(const std::vector<StatementCall>& calls,
                                      std::vector<SentStatement>& sent);
  bool send_one(const StatementCall& call, std::size_t index, std::vector<SentStatement>& sent);
  std::optional<ExchangeFailure> receive(const std::vector<StatementCall>& calls,
                                         const std::vector<SentStatement>& sent, std::vector<Rows>& rows);
  std::optional<ExchangeFailure> check(const PGresult* result, std::size_t call);
  std::optional<ExchangeFailure> exchange(std::vector<StatementCall>& calls, std::vector<Rows>& rows);
  std::optional<ExchangeFailure> set_record_types(std::vector<StatementCall>& calls);
  Result<void> script(const std::string& sql);
  static void notice(void* self, const PGresult* result);
};

PgConnection::Pipeline::WakeReason PgConnection::Pipeline::wait(bool writes,
                                                                std::optional<SteadyTime> until) const {
  std::array<pollfd, 2> polled{};
  polled[0] = {PQsocket(connection.get()), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0};
  polled[1] = {alarm.number(), POLLIN, 0};
  int millis = -1;
  if (until) {
    const auto left = std::chrono::ceil<Millis>(*until - steady_now());
    if (left <= Millis(0)) return WakeReason::late;
    millis = static_cast<int>(left.count());
  }
  poll(polled.data(), polled.size(), millis);
  if (polled[1].revents != 0) {
    eventfd_t ignored = 0;
    eventfd_read(alarm.number(), &ignored);
    return WakeReason::alarm;
  }
  return WakeReason::socket;
}

// Returns the next result, or null after the last result of a statement.
Result<ResultPtr> PgConnection::Pipeline::next(std::optional<SteadyTime> until) {
  while (true) {
    if (interrupted) return lost("the call was interrupted");
    const int unsent = PQflush(connection.get());
    if (unsent < 0) return lost();
    if (PQisBusy(connection.get()) == 0) return ResultPtr(PQgetResult(connection.get()));
    // libpq closes its socket when the stream ends after an answer; a poll() would then never return.
    if (PQsocket(connection.get()) < 0) return lost();
    if (wait(unsent > 0, until) == WakeReason::late) return lost("it did not answer in time");
    // If the stream ended, a whole answer may have arrived before its end; then that answer counts.
    if (PQconsumeInput(connection.get()) == 0 && PQisBusy(connection.get()) != 0) return lost();
  }
}

// Sets `broken` if the server closed the connection while no call was running.
void PgConnection::Pipeline::check_for_end() {
  pollfd polled{PQsocket(connection.get()), POLLIN, 0};
  while (!broken && poll(&polled, 1, 0) > 0) {
    if (PQconsumeInput(connection.get()) == 0) broken = true;
    // Makes libpq parse its input, so that it passes notices to notice().
    static_cast<void>(PQisBusy(connection.get()));
  }
}

bool PgConnection::Pipeline::send_one(const StatementCall& call, std::size_t index,
                                      std::vector<SentStatement>& sent) {
  const std::vector<Params::EncodedParam>& params = call.params.values_;
  const int count = static_cast<int>(params.size());
  std::vector<const char*> values;
  std::vector<int> lengths;
  for (const Params::EncodedParam& value : params) {
    values.push_back(value.null ? nullptr : value.bytes.data());
    lengths.push_back(static_cast<int>(value.bytes.size()));
  }
  const std::vector<int> formats(params.size(), 1);

  auto name = names.find(call.sql);
  if (name == names.end()) {
    std::vector<Oid> types;
    types.reserve(params.size());
    for (const Params::EncodedParam& value : params) types.push_back(value.type);
    name = names.emplace(call.sql, "s" + std::to_string(++last_name)).first;
    if (PQsendPrepare(connection.get(), name->second.c_str(), name->first.c_str(), count, types.data()) ==
        0) {
      return false;
    }
    sent.push_back({index, true});
  }
  sent.push_back({index, false});
  return PQsendQueryPrepared(connection.get(), name->second.c_str(), count, values.data(), lengths.data(),
                             formats.data(), 1) != 0;
}

std::optional<PgConnection::Pipeline::ExchangeFailure> PgConnection::Pipeline::send(
    const std::vector<StatementCall>& calls, std::vector<SentStatement>& sent) {
  for (std::size_t index = 0; index < calls.size(); ++index) {
    if (!send_one(calls[index], index, sent)) return ExchangeFailure{lost(), index, true, false};
  }
  ++round_trips;
  if (PQpipelineSync(connection.get()) == 0) return ExchangeFailure{lost(), calls.size() - 1, true, false};
  return std::nullopt;
}

std::optional<PgConnection::Pipeline::ExchangeFailure> PgConnection::Pipeline::check(const PGresult* result,
                                                                                     std::size_t call) {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY)
    return std::nullopt;
  const std::string state = field(result, PG_DIAG_SQLSTATE);
  // Only errors of the server have a SQLSTATE. libpq's own errors mean that the connection is lost.
  if (state.empty()) return ExchangeFailure{lost(PQresultErrorMessage(result)), call, true, false};
  const bool final = is_final(field(result, PG_DIAG_SEVERITY_NONLOCALIZED));
  if (final || makes_connection_useless(state)) broken = true;
  return ExchangeFailure{error_for_sqlstate(state, field(result, PG_DIAG_MESSAGE_PRIMARY)), call, false,
                         final};
}

std::optional<PgConnection::Pipeline::ExchangeFailure> PgConnection::Pipeline::receive(
    const std::vector<StatementCall>& calls, const std::vector<SentStatement>& sent,
    std::vector<Rows>& rows) {
  const std::optional<SteadyTime> until = end_of_patience();
  std::optional<ExchangeFailure> failed;
  for (const SentStatement& one : sent) {
    // From here on a WARNING belongs to the last call; commit() needs those of COMMIT.
    if (one.call + 1 == calls.size()) warned = false;
    Result<ResultPtr> result = next(until);
    // If the server reported an error before the connection ended, return that error, because it names the
    // cause.
    if (!result) return failed ? failed : ExchangeFailure{result.error(), one.call, true, false};
    EVENTQ_ASSERT(*result != nullptr);
    if (!failed) failed = check(result->get(), one.call);
    // The server has not prepared this statement, so the next call must prepare it.
    if (failed && one.prepares) names.erase(names.find(calls[one.call].sql));
    if (broken) return failed;
    if (!failed && !one.prepares) {
      Rows got;
      got.result_.reset(result->release());
      rows.push_back(std::move(got));
    }
    const Result<ResultPtr> end = next(until);
    if (!end) return failed ? failed : ExchangeFailure{end.error(), one.call, true, false};
    EVENTQ_ASSERT(*end == nullptr);
  }
  const Result<ResultPtr> sync = next(until);
  if (!sync && !failed) return ExchangeFailure{sync.error(), calls.size() - 1, true, false};
  // The server may fail after it answered every call. Statements outside a transaction block are committed by
  // the sync, so this counts as an error of the last call.
  if (sync && PQresultStatus(sync->get()) != PGRES_PIPELINE_SYNC) {
    auto ended = check(sync->get(), calls.size() - 1);
    broken = true;
    if (!failed) return ended;
  }
  return failed;
}

// The oids of the schema's own types differ between databases, so they are read once per connection.
std::optional<PgConnection::Pipeline::ExchangeFailure> PgConnection::Pipeline::set_record_types(
    std::vector<StatementCall>& calls) {
  for (StatementCall& call : calls) {
    for (Params::EncodedParam& value : call.params.values_) {
      if (value.record.empty()) continue;
      if (record_types.empty()) {
        std::vector<StatementCall> asked = {{sql::record_types}};
        std::vector<Rows> rows;
        if (auto failed = exchange(asked, rows)) return ExchangeFailure{failed->error, 0, false, false};
        const Rows& types = rows.front();
        for (std::size_t row = 0; row < types.size(); ++row) {
          record_types.emplace(types.text(row, 0), static_cast<std::uint32_t>(types.number(row, 1)));
        }
      }
      // An unknown type is sent without its oid, and the server reports the error.
      if (const auto type = record_types.find(value.record); type != record_types.end()) {
        value.set_record_type(type->second);
      }
    }
  }
  return std::nullopt;
}

std::optional<PgConnection::Pipeline::ExchangeFailure> PgConnection::Pipeline::exchange(
    std::vector<StatementCall>& calls, std::vector<Rows>& rows) {
  if (auto failed = set_record_types(calls)) return failed;
  std::vector<SentStatement> sent;
  if (auto failed = send(calls, sent)) return failed;
  return receive(calls, sent, rows);
}

Result<void> PgConnection::Pipeline::script(const std::string& sql) {
  // Pipeline mode accepts one statement per call, so a script runs outside it.
  if (PQexitPipelineMode(connection.get()) == 0 || PQsendQuery(connection.get(), sql.c_str()) == 0)
    return lost();
  const std::optional<SteadyTime> until = end_of_patience();
  std::optional<ExchangeFailure> failed;
  while (true) {
    Result<ResultPtr> result = next(until);
    if (!result) return failed ? failed->error : result.error();
    if (*result == nullptr) break;
    if (!failed) failed = check(result->get(), 0);
    if (broken) return failed->error;
  }
  if (PQenterPipelineMode(connection.get()) == 0) return lost();
  if (failed) return failed->error;
  return {};
}

void PgConnection::Pipeline::notice(void* self, const PGresult* result) {
  auto& impl = *static_cast<Pipeline*>(self);
  const std::string severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity == "WARNING") impl.warned = true;
  if (is_final(severity)) impl.broken = true;
}

PgConnection::PgConnection(std::unique_ptr<Pipeline> impl) : impl_(std::move(impl)) {}

PgConnection::~PgConnection() = default;

Result<std::unique_ptr<PgConnection>> PgConnection::open(const std::string& url) {
  auto opened = connect(url);
  if (!opened) return opened.error();
  auto impl = std::make_unique<Pipeline>(std::move(*opened));
  PGconn* const pq = impl->connection.get();
  EVENTQ_ASSERT(impl->alarm.open());
  PQsetNoticeReceiver(pq, &Pipeline::notice, impl.get());
  if (PQsetnonblocking(pq, 1) != 0 || PQenterPipelineMode(pq) == 0) return impl->lost();
  impl->patience = kConnectPatience;
  if (auto set = impl->script(std::string(sql::session)); !set) return set.error();
  impl->patience.reset();
  return std::unique_ptr<PgConnection>(new PgConnection(std::move(impl)));
}

Result<std::vector<Rows>> PgConnection::run(std::vector<StatementCall> calls) {
  std::vector<Rows> rows;
  if (calls.empty()) return rows;
  if (broken()) return unavailable("the connection was already lost");
  if (auto failed = impl_->exchange(calls, rows)) return std::move(failed->error);
  return rows;
}

Result<Rows> PgConnection::run_one(std::string_view sql, Params params) {
  return only(run(calls_of(StatementCall{sql, std::move(params)})));
}

Result<void> PgConnection::script(const std::string& sql) {
  if (broken()) return unavailable("the connection was already lost");
  return impl_->script(sql);
}

Result<void> PgConnection::commit(std::vector<StatementCall> calls) {
  // Detects a connection that has already ended. COMMIT is not sent on it, so the outcome is known.
  impl_->check_for_end();
  if (broken()) return unavailable("the connection was lost before the commit");

  calls.push_back({sql::commit});
  const std::size_t last = calls.size() - 1;
  std::vector<Rows> rows;
  const auto failed = impl_->exchange(calls, rows);
  if (failed) {
    // If the server reported an error before COMMIT or in COMMIT, it rolled back. If the connection broke
    // without an answer, or the server went down in COMMIT, the outcome is unknown.
    const bool rolled_back = !failed->lost && (failed->call < last || !failed->final);
    if (rolled_back) return failed->error;
    return Error{
        ErrorCode::unknown_outcome,
        "The connection to the database was lost in COMMIT, so the change may or may not be committed: " +
            failed->error.message};
  }
  // The server reports a cancelled wait for a synchronous standby as a WARNING: the commit is on the primary
  // only.
  if (impl_->warned) {
    return Error{
        ErrorCode::unknown_outcome,
        "The wait for a synchronous standby was cancelled, so the change may be lost in a failover."};
  }
  // COMMIT of a failed transaction is no error, but the server answers it with ROLLBACK.
  if (std::string_view(PQcmdStatus(rows.back().result_.get())) != "COMMIT") {
    return Error{ErrorCode::unavailable,
                 "A statement of the transaction had failed, so the database rolled it back. Try again."};
  }
  return {};
}

Result<std::vector<std::string>> PgConnection::notifications(Millis patience) {
  if (broken()) return unavailable("the connection was already lost");
  const SteadyTime until = steady_now() + patience;
  PGconn* const pq = impl_->connection.get();
  std::vector<std::string> payloads;
  while (true) {
    while (PGnotify* notify = PQnotifies(pq)) {
      const std::unique_ptr<PGnotify, void (*)(void*)> owned(notify, PQfreemem);
      payloads.emplace_back(notify->extra);
    }
    if (!payloads.empty()) return payloads;
    if (PQsocket(pq) < 0) return impl_->lost();
    const Pipeline::WakeReason woken = impl_->wait(false, until);
    if (impl_->interrupted) return impl_->lost("the call was interrupted");
    if (woken != Pipeline::WakeReason::socket) return payloads;
    if (PQconsumeInput(pq) == 0) return impl_->lost();
  }
}

std::size_t PgConnection::round_trips() const { return impl_->round_trips; }

bool PgConnection::broken() const { return impl_->broken || impl_->interrupted; }

void PgConnection::wake() { eventfd_write(impl_->alarm.number(), 1); }

void PgConnection::set_patience(Millis patience) { impl_->patience = patience; }

void PgConnection::interrupt() {
  impl_->interrupted = true;
  wake();
}

std::string without_password(const std::string& url) {
  std::string shown = url;
  const auto [user, at] = find_user(url);
  const std::size_t colon = shown.find(':', user);
  if (colon < at) shown.erase(colon, at - colon);
  for (const std::string_view key : {"?password=", "&password=", "?sslpassword=", "&sslpassword="}) {
    for (std::size_t found = shown.find(key); found != shown.npos; found = shown.find(key, found + 1)) {
      const std::size_t start = found + key.size();
      shown.replace(start, std::min(shown.find('&', start), shown.size()) - start, "***");
    }
  }
  return shown;
}

}  // namespace eventq::postgres
