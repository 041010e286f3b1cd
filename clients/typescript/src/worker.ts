// worker.ts: the entry "eventq/worker": claims events, runs handlers, extends the leases, and sends reports. Needs Node.
import { hostname } from "node:os";
import process from "node:process";

import { pause, sleep } from "./client.js";
import type { Client } from "./client.js";
import { Conflict, EventqError, NotFound, Unavailable } from "./errors.js";
import { Outcome, sizeOf } from "./outcome.js";
import type { Report } from "./outcome.js";
import type { ClaimedEvent, Recorded, Release, Tags, TurnRequest } from "./types.js";

export { Done, Later, Permanent } from "./outcome.js";

const pollSeconds = 1; // the wait for events in one call; short, so that stop() resolves soon
const beatSecondsMax = 5; // time limit of a heartbeat call; a third of the lease if that is shorter
const reportsMax = 1000; // in one call
const reportBytesMax = 4 * 1024 * 1024; // in one call, about; a request has a limit of 32 MiB

/**
 * Handles events with a payload of type T; the worker does not check the payload. What it returns is the event's result,
 * any JSON value; undefined and null mean none. An array of strings is a list of error messages for COMPLETED_WITH_ERRORS. A
 * result that is an array is returned as new Done(array); another array fails the event without a retry. An exception is a
 * failure. `signal` aborts when the lease is lost, or when stop() no longer waits. A handler must not block the event loop,
 * because the worker then cannot extend its leases.
 */
export type Handler<T = unknown> = (event: ClaimedEvent<T>, signal: AbortSignal) => unknown;

/** A handler for each tag. The members of Payloads are the types of the payloads, by tag. */
export type Handlers<Payloads> = { [Tag in keyof Payloads]: Handler<Payloads[Tag]> };

/** "warning": an event failed, or a call is repeated. "error": reports were lost. */
export type LogLevel = "warning" | "error";

export interface WorkerOptions {
  /** The worker's name. The default is that of the client if it was given one, otherwise "{hostname}:{pid}". */
  workerId?: string;
  /** For a single handler: the tags to claim. The default is all events of the queue. */
  tags?: Tags;
  queue?: string;
  /** Handlers that run at once, 1 to 1000. The default is 4. */
  concurrency?: number;
  /** Events held in addition to the running ones. The default is `concurrency`. */
  prefetch?: number;
  /** Seconds that stop() waits for handlers. The default is 30. */
  stopWithin?: number;
  /** Receives a message per problem. The default is console.warn or console.error, by level. */
  logger?: (message: string, level: LogLevel) => void;
}

/** An event that the worker holds: waiting, running, or finished and not yet reported. */
class Held {
  readonly lost = new AbortController();
  readonly leaseMs: number;
  leaseEnd: number; // by our clock; starts when the answer arrives
  beatAt: number; // already past if the call waited longer than that
  running = false;
  gone = false; // the server answered that the lease is lost: there is nothing to report
  report: Report | undefined;

  constructor(readonly event: ClaimedEvent, sentAt: number) {
    this.leaseMs = Date.parse(event.lease_until) - Date.parse(event.updated_at);
    this.leaseEnd = performance.now() + this.leaseMs;
    this.beatAt = sentAt + this.leaseMs / 3;
  }
}

/** `Payloads` is the type of the payload for one handler, and the types by tag for several. */
export class Worker<Payloads = unknown> {
  readonly #client: Client;
  readonly #workerId: string;
  readonly #handlers: Handler<any> | [string, Handler<any>][];
  readonly #claim: Pick<TurnRequest, "tags" | "queue">;
  readonly #concurrency: number;
  readonly #capacity: number;
  readonly #stopWithin: number;
  readonly #logger: (message: string, level: LogLevel) => void;

  readonly #held = new Set<Held>();
  #ready: Held[] = [];
  #finished: Held[] = []; // waiting to be reported
  #requested = 0; // events that pending calls may still return
  #reporting = false;
  #alone = 0; // this many reports are sent one by one, because a call with all of them was refused
  #stopping = false;
  #over = false;
  #allReturned = true;
  #failure: { error: unknown } | undefined; // the server refused this worker, or a loop threw
  #waiters: (() => void)[] = [];
  #loops: Promise<void>[] = [];

  /** One handler, or one per tag: all that match an event run, in this order, and the worst result counts. */
  constructor(client: Client, handlers: Handler | Record<string, Handler>, options?: WorkerOptions);
  constructor(client: Client, handlers: Handler<Payloads> | Handlers<Payloads>, options?: WorkerOptions);
  constructor(client: Client, handlers: Handler<any> | Record<string, Handler<any>>, options: WorkerOptions = {}) {
    this.#client = client;
    this.#workerId = options.workerId ?? (client.isNamed ? client.workerId : `${hostname()}:${process.pid}`);
    let tags = options.tags;
    if (typeof handlers === "function") this.#handlers = handlers;
    else {
      // The server trims tags, too.
      this.#handlers = Object.entries(handlers).map(([tag, handler]) => [tag.replace(/^[ \t]+|[ \t]+$/g, ""), handler]);
      tags = this.#handlers.map(([tag]) => tag);
    }
    this.#claim = { ...(tags !== undefined && { tags }), queue: options.queue ?? "main" };
    this.#concurrency = options.concurrency ?? 4;
    const prefetch = options.prefetch ?? this.#concurrency;
    if (!(this.#concurrency >= 1 && this.#concurrency <= 1000 && prefetch >= 0))
      throw new TypeError(`concurrency is ${this.#concurrency} and prefetch ${prefetch}; concurrency must be 1 to 1000, prefetch 0 or more.`);
    this.#capacity = Math.min(1000, this.#concurrency + prefetch);
    this.#stopWithin = options.stopWithin ?? 30;
    this.#logger = options.logger ?? ((message, level) => (level === "error" ? console.error(message) : console.warn(message)));
  }

  /**
   * Works until SIGTERM, SIGINT or stop(). A second signal is not caught. Resolves to the result of stop().
   * Throws the error with which the server refused the worker, and errors of the worker itself.
   */
  async run(): Promise<boolean> {
    let signalled = false;
    const end = () => {
      signalled = true;
      this.#notify();
    };
    process.on("SIGTERM", end);
    process.on("SIGINT", end);
    this.start();
    await this.#until(() => signalled || this.#stopping || this.#failure !== undefined);
    process.off("SIGTERM", end);
    process.off("SIGINT", end);
    await this.stop();
    if (this.#failure) throw this.#failure.error;
    return this.#allReturned;
  }

  /** Starts the loops of the worker and returns. stop() ends them. */
  start(): void {
    const loops = [this.#claimLoop(), this.#reportLoop(), this.#heartbeatLoop(), this.#expiryLoop()];
    this.#loops = loops.map((loop) => loop.catch((error: unknown) => this.#fail(error)));
  }

  /**
   * Claims no more events, releases those that no handler has begun, and waits `stopWithin` seconds for handlers.
   * For each handler that still runs then it aborts the signal and releases the event. Resolves to true if there was none.
   * At the end the worker signs off.
   */
  async stop(): Promise<boolean> {
    this.#stopping = true;
    for (const held of this.#ready.splice(0)) this.#release(held, { reason: "the worker stops" });
    this.#notify();
    const running = () => [...this.#held].filter((held) => held.running && !held.report);
    await this.#until(() => running().length === 0, this.#stopWithin);
    for (const held of running()) {
      this.#allReturned = false;
      held.lost.abort();
      this.#release(held, { reason: "the worker stops; its handler had not returned" });
    }
    // Sending reports may take as long as one call, however long the handlers ran.
    await this.#until(() => !this.#finished.length && !this.#reporting && !this.#requested, this.#client.timeout);
    this.#over = true;
    this.#notify();
    await Promise.all(this.#loops);
    await this.#client.signOff(this.#workerId).catch(() => {}); // the server finds out by itself, later
    return this.#allReturned;
  }

  /** Ends run(). */
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#notify();
  }

  #notify(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Resolves when holds() is true, or after `seconds`. */
  async #until(holds: () => boolean, seconds = Infinity): Promise<void> {
    const end = performance.now() + seconds * 1000;
    while (!holds() && performance.now() < end) await this.#change((end - performance.now()) / 1000);
  }

  /** Resolves after the next #notify(), or after `seconds`. */
  #change(seconds: number): Promise<void> {
    const changed = new AbortController();
    this.#waiters.push(() => changed.abort());
    return sleep(Math.min(3600, seconds), changed.signal);
  }

  #freeCapacity(): number {
    if (this.#stopping) return 0;
    const working = [...this.#held].filter((held) => !held.report).length;
    return Math.max(0, this.#capacity - working - this.#requested);
  }

  /** Records the result, unless there is one. */
  #finish(held: Held, report: Report): void {
    if (held.report) return;
    held.report = report;
    if (held.gone) this.#held.delete(held);
    else this.#finished.push(held);
    this.#notify();
  }

  #release(held: Held, how: Release): void {
    this.#finish(held, { kind: "released", body: { id: held.event.id, attempt: held.event.attempt, ...how } });
  }

  /** Polls for events while there is capacity. Pauses while reports are waiting, because their call claims as well. */
  async #claimLoop(): Promise<void> {
    for (let failures = 0; ; ) {
      await this.#until(() => this.#stopping || (this.#freeCapacity() > 0 && !this.#finished.length && !this.#reporting));
      if (this.#stopping) return;
      failures = await this.#after(failures, await this.#turn(pollSeconds, []));
    }
  }

  /** Sends all waiting reports in one call, which also claims events for the free capacity. */
  async #reportLoop(): Promise<void> {
    for (let failures = 0; ; ) {
      // While the worker stops, wait for its last poll first. Otherwise that poll could claim the released events.
      await this.#until(() => this.#over || (this.#finished.length > 0 && !(this.#stopping && this.#requested)));
      if (!this.#finished.length) return;
      if (this.#over && failures) {
        this.#logger(`${this.#finished.length} events were not reported; their leases will expire.`, "error");
        return;
      }
      this.#reporting = true;
      failures = await this.#after(failures, await this.#turn(0, this.#finished.splice(0, this.#alone ? 1 : this.#reportsAtOnce())));
    }
  }

  #reportsAtOnce(): number {
    let bytes = 0;
    const tooMany = this.#finished.findIndex(({ report }, index) => (bytes += sizeOf(report)) > reportBytesMax && index > 0);
    return Math.min(reportsMax, tooMany < 0 ? this.#finished.length : tooMany);
  }

  /** Waits before the next try, longer after each failure in a row. Resolves to the number of failures in a row. */
  async #after(failures: number, error: EventqError | undefined): Promise<number> {
    if (!error) return 0;
    if (!failures) this.#logger(`The call failed; retrying: ${error.message}`, "warning");
    await this.#until(() => this.#over, pause(failures + 1, error.retryAfter));
    return failures + 1;
  }

  /** Makes one call. Resolves to an error if the call must be repeated. */
  async #turn(wait: number, reports: Held[]): Promise<EventqError | undefined> {
    const free = this.#alone && reports.length ? 0 : this.#freeCapacity();
    this.#requested += free;
    const of = (kind: Report["kind"]) => reports.filter((held) => held.report?.kind === kind);
    const bodies = <Kind extends Report["kind"]>(kind: Kind) =>
      of(kind).map((held) => held.report!.body as Extract<Report, { kind: Kind }>["body"]);
    const request: TurnRequest = {
      worker_id: this.#workerId,
      limit: free,
      ...(free && { ...this.#claim, wait }),
      completed: bodies("completed"),
      failed: bodies("failed"),
      released: bodies("released"),
    };
    const sentAt = performance.now();
    try {
      const turn = await this.#client.next(request, { tries: 1 });
      for (const event of turn.events) this.#take(new Held(event, sentAt));
      return this.#settle([...of("completed"), ...of("failed"), ...of("released")], turn.results);
    } catch (error) {
      if (!(error instanceof EventqError)) throw error;
      const final = error.status === 400 || error.status === 413;
      if (final && reports.length === 1 && !free) return this.#settle(reports, [error]);
      if (final && !reports.length) this.#fail(error);
      if (final) this.#alone = reports.length;
      this.#finished.unshift(...reports);
      return final && reports.length ? undefined : error;
    } finally {
      this.#requested -= free;
      if (reports.length) this.#reporting = false;
      this.#startHandlers();
      this.#notify();
    }
  }

  #take(held: Held): void {
    this.#held.add(held);
    if (this.#stopping) this.#release(held, { reason: "the worker stops" });
    else this.#ready.push(held);
  }

  /** Removes the events whose reports were answered for good. Returns an error if some reports must be repeated. */
  #settle(reports: Held[], results: readonly (Recorded | EventqError)[]): EventqError | undefined {
    let again: EventqError | undefined;
    this.#alone = Math.max(0, this.#alone - reports.length);
    reports.forEach((held, index) => {
      const result = results[index] ?? new Unavailable("No answer.");
      if (result instanceof EventqError && ![400, 404, 409, 413].includes(result.status)) {
        this.#finished.push(held);
        again = result;
        return;
      }
      this.#held.delete(held);
      if (!(result instanceof EventqError)) return;
      held.lost.abort();
      this.#logger(`The report on event ${held.event.id} was refused: ${result.message}`, "warning");
    });
    return again;
  }

  /** Extends each lease when a third of it has passed, in one call for all that are due. */
  async #heartbeatLoop(): Promise<void> {
    while (!this.#over) {
      const now = performance.now();
      const kept = [...this.#held].filter((held) => !held.gone);
      const due = kept.filter((held) => held.beatAt <= now).slice(0, reportsMax);
      if (due.length) await this.#sendHeartbeats(due);
      else await this.#change((Math.min(...kept.map((held) => held.beatAt)) - now) / 1000);
    }
  }

  async #sendHeartbeats(due: Held[]): Promise<void> {
    const sentAt = performance.now();
    const alive = due.map(({ event: { id, attempt } }) => ({ id, attempt }));
    const third = Math.min(...due.map((held) => held.leaseMs)) / 3000;
    let results: readonly (Recorded | EventqError)[] = [];
    try {
      const how = { tries: 1, timeout: Math.min(third, beatSecondsMax) };
      results = (await this.#client.next({ worker_id: this.#workerId, limit: 0, alive }, how)).results;
    } catch (error) {
      if (!(error instanceof EventqError)) throw error;
    }
    due.forEach((held, index) => {
      const result = results[index];
      if (result === undefined || (result instanceof EventqError && !(result instanceof Conflict || result instanceof NotFound))) {
        held.beatAt = performance.now() + held.leaseMs / 12; // retry soon
      } else if (!(result instanceof EventqError)) {
        held.leaseEnd = sentAt + held.leaseMs;
        held.beatAt = sentAt + held.leaseMs / 3;
      } else {
        held.beatAt = Infinity;
        if (held.report) return; // the report has just ended the lease
        this.#logger(`The lease is lost: ${result.message}`, "warning");
        held.gone = true;
        held.lost.abort();
      }
    });
  }

  /** Aborts the signal when a lease has ended by our own clock. The server may still accept the report. */
  async #expiryLoop(): Promise<void> {
    while (!this.#over) {
      const now = performance.now();
      for (const held of [...this.#held].filter((held) => held.leaseEnd <= now)) {
        held.lost.abort();
        if (!this.#ready.includes(held)) continue;
        this.#ready.splice(this.#ready.indexOf(held), 1);
        this.#releaseExpired(held);
      }
      const ends = [...this.#held].map((held) => held.leaseEnd).filter((end) => end > now);
      await this.#change((Math.min(...ends) - now) / 1000);
    }
  }

  /** Releases an event whose lease ended before a handler began. */
  #releaseExpired(held: Held): void {
    this.#release(held, { reason: "the lease ended before a handler began" });
  }

  #startHandlers(): void {
    let free = this.#concurrency - [...this.#held].filter((held) => held.running && !held.report).length;
    while (free > 0) {
      const held = this.#ready.shift();
      if (!held) return;
      if (held.gone || held.leaseEnd <= performance.now()) {
        this.#releaseExpired(held);
        continue;
      }
      held.running = true;
      --free;
      void this.#handle(held)
        .catch((): Report => {
          const { id, attempt } = held.event;
          const error_message = "The value that the handler threw has no text.";
          this.#logFailure(held.event, error_message);
          return { kind: "failed", body: { id, attempt, error_message } };
        })
        .then((report) => {
          this.#finish(held, report);
          this.#startHandlers();
        })
        .catch((error: unknown) => this.#fail(error));
    }
  }

  /** Runs all handlers that match, while the event is not lost. Resolves to the report. */
  async #handle(held: Held): Promise<Report> {
    const { event, lost } = held;
    const started = performance.now();
    const matching =
      typeof this.#handlers === "function"
        ? [this.#handlers]
        : this.#handlers.filter(([tag]) => event.tags.includes(tag)).map(([, handler]) => handler);
    const id = { id: event.id, attempt: event.attempt };
    if (!matching.length)
      return { kind: "failed", body: { ...id, error_message: `No handler here matches the tags ${event.tags.join(", ")}.` } };
    const outcome = new Outcome(event);
    const leaseEnded: Report = { kind: "released", body: { ...id, reason: "the lease ended while the handlers ran" } };
    for (const handler of matching) {
      if (lost.signal.aborted) return leaseEnded;
      try {
        outcome.returned(await handler(event, lost.signal));
      } catch (error) {
        outcome.threw(error);
      }
    }
    if (held.gone || held.report) return leaseEnded; // so log no failure
    const report = outcome.report(performance.now() - started);
    if (report.kind === "failed") this.#logFailure(event, report.body.error_message ?? "");
    return report;
  }

  #logFailure(event: ClaimedEvent, message: string): void {
    this.#logger(`Event ${event.id} (${event.tags.join(",")}) failed: ${message}`, "warning");
  }
}
