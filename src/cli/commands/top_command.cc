// top_command.cc: `eventq top`: fetches the overview once a second, draws it, and handles keys.
#include <algorithm>
#include <ostream>
#include <string>
#include <utility>

#include "base/steady.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "cli/terminal/full_screen.h"
#include "cli/terminal/top_screen.h"

namespace eventq::cli {
namespace {

constexpr Millis kInterval{1'000};
constexpr Millis kPatience{2'000};  // the timeout of one call; short, because keys are not read meanwhile

client::HttpRequest request(std::string method, std::string target, std::string body = {}) {
  return {.method = std::move(method),
          .target = std::move(target),
          .body = std::move(body),
          .timeout = kPatience};
}

// Everything that the screen shows, and few events, which it does not show.
constexpr std::string_view kOverview = "/overview?limit=1";

class TopSession {
 public:
  explicit TopSession(Invocation& run)
      : run_(run), view_{.history = history_, .version = {}, .url = run.url} {}

  ExitCode run() {
    FullScreen screen;
    SteadyTime next = steady_now();
    for (;;) {
      if (steady_now() >= next) {
        refresh();
        // From the end of the calls on, so that a slow server gets fewer of them.
        next = steady_now() + kInterval;
      }
      // Also after a key, which may change the selection, and after a change of the size.
      const FullScreen::Size size = FullScreen::size();
      OutputOptions options = run_.output;
      options.width = size.width;
      FullScreen::draw(draw_top(view_, options, size.height));
      const auto left = std::chrono::ceil<Millis>(next - steady_now());
      const FullScreen::TerminalInput input = screen.wait(std::max(left, Millis{0}));
      if (input.kind == FullScreen::InputKind::stop) return ExitCode::interrupted;
      if (input.letter == 'q') return ExitCode::done;
      act_on(input);
    }
  }

  // Prints once, without a screen.
  ExitCode print() {
    const CallResult called = call(run_, "GET", std::string(kOverview));
    if (!called) return called.code;
    const AnswerJson overview(called.body);
    if (!overview) return fail_unreadable(run_, overview);
    if (run_.output.format != Format::table) return print_records(*overview);
    if (const auto taken = take(called.body, *overview); !taken) return fail(run_, taken.error().message);
    run_.out << draw_top(view_, run_.output, 0);
    return report_missing_shards(run_, missing_shards(*overview));
  }

 private:
  ExitCode print_records(const JsonValue& overview) {
    RecordPrinter printer(run_.out, run_.output, {{"QUEUE", "queue"}, {"DEPTH", "depth", CellKind::number}});
    const auto metrics = value_at(overview, "metrics").value_or(JsonValue());
    for (const JsonValue& queue : elements_at(metrics, "queues")) printer.add(queue.raw());
    printer.finish();
    return report_missing_shards(run_, missing_shards(overview));
  }

  // Adds the sample of an overview to the history. `json` is the parsed `body`.
  Result<void> take(const std::string& body, const JsonValue& json) {
    const auto metrics = value_at(json, "metrics");
    auto sample = read_top_sample(metrics ? metrics->raw() : "{}", body, body);
    if (!sample) return sample.error();
    history_.add(std::move(*sample), steady_now());
    view_.version = text_at(json, "server.version").value_or("");
    return {};
  }

  void refresh() {
    const auto answer = run_.server.call(request("GET", std::string(kOverview)));
    if (!answer) {
      view_.notice = "No eventq server at " + run_.url + "; retrying. q quits.";
      unreachable_ = true;
      return;
    }
    // Only the notice about the server; one about a key stays until the next key.
    if (std::exchange(unreachable_, false)) view_.notice.clear();
    const AnswerJson overview(answer->body);
    const Result<void> taken = take(answer->body, *overview);
    if (!overview || !taken) {
      view_.notice =
          "The server's figures cannot be read: " + (taken ? overview.error() : taken.error().message);
      return;
    }
    // The selected queue may be gone.
    select(0);
  }

  // Moves the selection down by `down` lines. If the selected queue is gone, selects the first one.
  void select(int down) {
    const auto order = top_order(view_);
    if (order.empty()) return;
    const auto found = std::find(order.begin(), order.end(), view_.selected);
    const auto at = found == order.end() ? 0 : found - order.begin() + down;
    view_.selected =
        order[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, std::ssize(order) - 1))];
  }

  void act_on(const FullScreen::TerminalInput& input) {
    if (input.kind == FullScreen::InputKind::nothing || input.kind == FullScreen::InputKind::redraw) return;
    // A key clears the notice of the key before.
    if (!unreachable_) view_.notice.clear();
    if (input.kind == FullScreen::InputKind::up) select(-1);
    if (input.kind == FullScreen::InputKind::down) select(1);
    if (input.letter == 's') {
      view_.sort = static_cast<TopSort>((static_cast<std::size_t>(view_.sort) + 1) % kTopSorts);
    }
    if (input.letter == 'p') pause_or_resume();
  }

  void pause_or_resume() {
    const TopQueue* const queue = find_queue(history_.last(), view_.selected);
    if (queue == nullptr) return;
    const std::string change = queue->state == "active" ? "pause" : "resume";
    const auto answer =
        run_.server.call(request("POST", "/queues/" + percent_encode(queue->name) + "/" + change,
                                 change == "pause" ? R"({"by":"eventq top"})" : "{}"));
    const bool done = answer && answer->status == 200;
    view_.notice = (done ? "" : "Failed: ") + change + " " + queue->name;
    // Shows the new state at once, not at the next interval.
    refresh();
  }

  Invocation& run_;
  TopHistory history_;
  TopView view_;
  bool unreachable_ = false;
};

ExitCode top(Invocation& run) {
  TopSession top(run);
  const bool live = run.output.terminal && FullScreen::possible() && !run.arguments.has("--once");
  return live && run.output.format == Format::table ? top.run() : top.print();
}

}  // namespace

CommandSpec top_command() {
  return {.name = "top",
          .summary = "Show queues and workers live",
          .details =
              "Fills the terminal and refreshes every second. Rates are events per second since the "
              "last refresh; 5 MIN shows completed events per second, one bar for every 15 seconds.\n\n"
              "Keys: `q` quits, the arrows select a queue, `p` pauses or resumes it, `s` sorts by the "
              "next column. Without a terminal the command prints once.",
          .options = {{.name = "--once", .help = "Print once and exit"}},
          .examples = {{"eventq top", "Watch until q is pressed"},
                       {"eventq top --once -o table", "Print queues and workers as they are now"}},
          .run = top};
}

}  // namespace eventq::cli
