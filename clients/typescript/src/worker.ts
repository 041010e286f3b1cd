// worker.ts: takes events, runs handlers, keeps their leases, and reports.
import process from "node:process";

import { Client, pause, sleep } from "./client.js";
import { Conflict, EventqError, NotFound, Unavailable } from "./errors.js";
import type { ClaimedEvent, Completion, Entry, Failure, Release, Reported, Tags, TurnRequest } from "./types.js";

const pollSeconds = 1; // the wait for events in one call; short, so that the worker can stop soon
const beatSecondsMax = 5; // a call that keeps leases may take so long, or a third of the lease
const reportsMax = 1000; // in one call
const textBytesMax = 16384;
const reasonCharactersMax = 1000;
const delaySecondsMax = 31_536_000;

/** Thrown by a handler: the event failed, and no retry would mend it. */
export class Permanent extends Error {}

/** Thrown by a handler: the event is given back for `seconds`, and no failure is counted. */
export class Later extends Error {
  constructor(readonly seconds: number, reason = "") {
    super(reason);
    if (typeof seconds !== "number" || Number.isNaN(seconds)) throw new TypeError("The seconds of Later are not a number.");
  }
}

/**
 * Returns nothing, or a list of what went wrong on the way. What it throws is a failure. `signal` aborts when the
 * lease is lost, or when the worker must stop now. A handler that blocks the event loop keeps its lease from being kept.
 */
export type Handler = (event: ClaimedEvent, signal: AbortSignal) => Promise<readonly string[] | void> | readonly string[] | void;

export interface WorkerOptions {
  /** For a single handler: which events; all of the queue unless given. */
  tags?: Tags;
  queue?: string;
  /** Handlers that run at once, 1 to 1000; 4 unless given. */
  concurrency?: number;
  /** Events held ready beside those; as many unless given. */
  prefetch?: number;
  /** Seconds stop() waits for handlers; 30 unless given. */
  stopWithin?: number;
  /** Told what goes wrong; console.error unless given. */
  logger?: (message: string) => void;
}

type Report =
  | { kind: "completed"; body: Reported<Completion> }
  | { kind: "failed"; body: Reported<Failure> }
  | { kind: "released"; body: Reported<Release> };

/** An event that the worker has: waiting, running, or finished and not yet reported. */
class Held {
  readonly lost = new AbortController();
  readonly leaseMs: number;
  leaseEnd: number; // by our clock, from when the answer was there
  beatAt: number; // at once after a call that waited longer
  running = false;
  gone = false; // the server said so: there is nothing to report
  report: Report | undefined;

  constructor(readonly event: ClaimedEvent, askedAt: number) {
    this.leaseMs = Date.parse(event.lease_until) - Date.parse(event.updated_at);
    this.leaseEnd = performance.now() + this.leaseMs;
    this.beatAt = askedAt + this.leaseMs / 3;
  }
}

export class Worker {
  readonly #client: Client;
  readonly #handlers: Handler | [string, Handler][];
  readonly #claim: Pick<TurnRequest, "tags" | "queue">;
  readonly #concurrency: number;
  readonly #capacity: number;
  readonly #stopWithin: number;
  readonly #logger: (message: string) => void;

  readonly #held = new Set<Held>();
  #ready: Held[] = [];
  #finished: Held[] = []; // to be reported
  #asked = 0; // events that calls under way may bring
  #reporting = false;
  #alone = 0; // so many reports go one by one, since a call with all of them was refused
  #stopping = false;
  #over = false;
  #allReturned = true;
  #failure: { error: unknown } | undefined; // the server refuses this worker, or it is broken
  #waiters: (() => void)[] = [];
  #loops: Promise<void>[] = [];

  /** One handler, or one for each tag: all that fit an event run, in this order, and the gravest result counts. */
  constructor(client: Client, handlers: Handler | Record<string, Handler>, options: WorkerOptions = {}) {
    this.#client = client;
    let tags = options.tags;
    if (typeof handlers === "function") this.#handlers = handlers;
    else {
      // Trimmed as the server trims them.
      this.#handlers = Object.entries(handlers).map(([tag, handler]) => [tag.replace(/^[ \t]+|[ \t]+$/g, ""), handler]);
      tags = this.#handlers.map(([tag]) => tag);
    }
    this.#claim = { ...(tags !== undefined && { tags }), queue: options.queue ?? "main" };
    this.#concurrency = options.concurrency ?? 4;
    const prefetch = options.prefetch ?? this.#concurrency;
    if (!(this.#concurrency >= 1 && this.#concurrency <= 1000 && prefetch >= 0))
      throw new TypeError(`concurrency is ${this.#concurrency}, prefetch ${prefetch}; they must be from 1 to 1000, and not negative.`);
    this.#capacity = Math.min(1000, this.#concurrency + prefetch);
    this.#stopWithin = options.stopWithin ?? 30;
    this.#logger = options.logger ?? ((message) => console.error(message));
  }

  /**
   * Works until SIGTERM, SIGINT or stop(); a second signal is not caught.
   * Resolves as stop() does. Throws what the server refuses the worker with, and what broke the worker itself.
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

  start(): void {
    const loops = [this.#takeLoop(), this.#reportLoop(), this.#keepLoop(), this.#watchLoop()];
    this.#loops = loops.map((loop) => loop.catch((error: unknown) => this.#fail(error)));
  }

  /**
   * Takes no more, gives back what no handler has begun, and waits `stopWithin` seconds for the handlers. Those
   * that still run then have their signal aborted and their events given back. True when none was left.
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
    // Reports get as long as one call may take, whatever the handlers took.
    await this.#until(() => !this.#finished.length && !this.#reporting && !this.#asked, this.#client.timeout);
    this.#over = true;
    this.#notify();
    await Promise.all(this.#loops);
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

  /** Resolves once `holds`, or after so many seconds. */
  async #until(holds: () => boolean, seconds = Infinity): Promise<void> {
    const end = performance.now() + seconds * 1000;
    while (!holds() && performance.now() < end) await this.#change((end - performance.now()) / 1000);
  }

  /** Resolves when something has changed, or after so many seconds. */
  #change(seconds: number): Promise<void> {
    const changed = new AbortController();
    this.#waiters.push(() => changed.abort());
    return sleep(Math.min(3600, seconds), changed.signal);
  }

  #room(): number {
    if (this.#stopping) return 0;
    const working = [...this.#held].filter((held) => !held.report).length;
    return Math.max(0, this.#capacity - working - this.#asked);
  }

  /** Notes the result, unless there is one. */
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

  /** Waits for events when there is room, and no report whose call would bring them. */
  async #takeLoop(): Promise<void> {
    for (let failures = 0; ; ) {
      await this.#until(() => this.#stopping || (this.#room() > 0 && !this.#finished.length && !this.#reporting));
      if (this.#stopping) return;
      failures = await this.#after(failures, await this.#turn(pollSeconds, []));
    }
  }

  /** Sends all reports that have gathered, and takes as many events as there is room for then. */
  async #reportLoop(): Promise<void> {
    for (let failures = 0; ; ) {
      // What is given back when the worker stops must not come to a call of its own that still waits.
      await this.#until(() => this.#over || (this.#finished.length > 0 && !(this.#stopping && this.#asked)));
      if (!this.#finished.length) return;
      if (this.#over && failures) {
        this.#logger(`${this.#finished.length} events were not reported; their leases will end.`);
        return;
      }
      this.#reporting = true;
      failures = await this.#after(failures, await this.#turn(0, this.#finished.splice(0, this.#alone ? 1 : reportsMax)));
    }
  }

  /** Waits before the next try, longer with each failure in a row. Returns how many there are. */
  async #after(failures: number, error: EventqError | undefined): Promise<number> {
    if (!error) return 0;
    if (!failures) this.#logger(`The server did not take the call; trying again: ${error.message}`);
    await this.#until(() => this.#over, pause(failures + 1, error.retryAfter));
    return failures + 1;
  }

  /** One call. Returns the error after which it is to be made again. */
  async #turn(wait: number, reports: Held[]): Promise<EventqError | undefined> {
    const room = this.#alone && reports.length ? 0 : this.#room();
    this.#asked += room;
    const of = (kind: Report["kind"]) => reports.filter((held) => held.report?.kind === kind);
    const bodies = <T>(kind: Report["kind"]) => of(kind).map((held) => held.report!.body as Reported<T>);
    const request: TurnRequest = {
      limit: room,
      ...(room && { ...this.#claim, wait }),
      completed: bodies<Completion>("completed"),
      failed: bodies<Failure>("failed"),
      released: bodies<Release>("released"),
    };
    const askedAt = performance.now();
    try {
      const turn = await this.#client.next(request, { tries: 1 });
      for (const event of turn.events) this.#take(new Held(event, askedAt));
      return this.#settle([...of("completed"), ...of("failed"), ...of("released")], turn.results);
    } catch (error) {
      if (!(error instanceof EventqError)) throw error;
      const final = error.status === 400 || error.status === 413;
      if (final && reports.length === 1 && !room) return this.#settle(reports, [error]);
      if (final && !reports.length) this.#fail(error);
      if (final) this.#alone = reports.length;
      this.#finished.unshift(...reports);
      return final && reports.length ? undefined : error;
    } finally {
      this.#asked -= room;
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

  /** Returns why some are to be reported again: there was no answer, or one that may change. */
  #settle(reports: Held[], results: readonly (Entry | EventqError)[]): EventqError | undefined {
    let again: EventqError | undefined;
    this.#alone = Math.max(0, this.#alone - reports.length);
    reports.forEach((held, index) => {
      const result = results[index] ?? new Unavailable("There was no answer.");
      if (result instanceof EventqError && ![400, 404, 409, 413].includes(result.status)) {
        this.#finished.push(held);
        again = result;
        return;
      }
      this.#held.delete(held);
      if (!(result instanceof EventqError)) return;
      held.lost.abort();
      this.#logger(`The report on event ${held.event.id} was refused: ${result.message}`);
    });
    return again;
  }

  /** Renews the lease of every event held, each third of it, in one call for all that are due. */
  async #keepLoop(): Promise<void> {
    while (!this.#over) {
      const now = performance.now();
      const kept = [...this.#held].filter((held) => !held.gone);
      const due = kept.filter((held) => held.beatAt <= now).slice(0, reportsMax);
      if (due.length) await this.#keep(due);
      else await this.#change((Math.min(...kept.map((held) => held.beatAt)) - now) / 1000);
    }
  }

  async #keep(due: Held[]): Promise<void> {
    const askedAt = performance.now();
    const alive = due.map(({ event: { id, attempt } }) => ({ id, attempt }));
    const third = Math.min(...due.map((held) => held.leaseMs)) / 3000;
    let results: readonly (Entry | EventqError)[] = [];
    try {
      const how = { tries: 1, timeout: Math.min(third, beatSecondsMax) };
      results = (await this.#client.next({ limit: 0, alive }, how)).results;
    } catch (error) {
      if (!(error instanceof EventqError)) throw error;
    }
    due.forEach((held, index) => {
      const result = results[index];
      if (result === undefined || (result instanceof EventqError && !(result instanceof Conflict || result instanceof NotFound))) {
        held.beatAt = performance.now() + held.leaseMs / 12; // another try soon
      } else if (!(result instanceof EventqError)) {
        held.leaseEnd = askedAt + held.leaseMs;
        held.beatAt = askedAt + held.leaseMs / 3;
      } else {
        held.beatAt = Infinity;
        if (held.report) return; // it has just been made
        this.#logger(`The lease is lost: ${result.message}`);
        held.gone = true;
        held.lost.abort();
      }
    });
  }

  /** Tells of leases that ended by our own clock. The server may take the report all the same. */
  async #watchLoop(): Promise<void> {
    while (!this.#over) {
      const now = performance.now();
      for (const held of [...this.#held].filter((held) => held.leaseEnd <= now)) {
        held.lost.abort();
        if (!this.#ready.includes(held)) continue;
        this.#ready.splice(this.#ready.indexOf(held), 1);
        this.#giveUp(held);
      }
      const ends = [...this.#held].map((held) => held.leaseEnd).filter((end) => end > now);
      await this.#change((Math.min(...ends) - now) / 1000);
    }
  }

  /** Of an event that no handler has begun, and whose lease is over. */
  #giveUp(held: Held): void {
    this.#release(held, { reason: "the lease ended before a handler began" });
  }

  #startHandlers(): void {
    let free = this.#concurrency - [...this.#held].filter((held) => held.running && !held.report).length;
    while (free > 0) {
      const held = this.#ready.shift();
      if (!held) return;
      if (held.gone || held.leaseEnd <= performance.now()) {
        this.#giveUp(held);
        continue;
      }
      held.running = true;
      --free;
      void this.#handle(held)
        .catch((): Report => {
          const { id, attempt } = held.event;
          return { kind: "failed", body: { id, attempt, error_message: "What the handler threw cannot be told." } };
        })
        .then((report) => {
          this.#finish(held, report);
          this.#startHandlers();
        })
        .catch((error: unknown) => this.#fail(error));
    }
  }

  /** Runs every handler that fits. The gravest result decides: for good, retry, later, done. */
  async #handle({ event, lost }: Held): Promise<Report> {
    const started = performance.now();
    const fitting =
      typeof this.#handlers === "function"
        ? [this.#handlers]
        : this.#handlers.filter(([tag]) => event.tags.includes(tag)).map(([, handler]) => handler);
    const errors: string[] = [];
    const thrown: unknown[] = [];
    for (const handler of fitting) {
      try {
        const returned = await handler(event, lost.signal);
        if (Array.isArray(returned)) errors.push(...returned.map(String));
      } catch (error) {
        thrown.push(error);
      }
    }
    const id = { id: event.id, attempt: event.attempt };
    const timed = { ...id, execution_time_ms: Math.floor(performance.now() - started) };
    if (!fitting.length)
      return { kind: "failed", body: { ...timed, error_message: `No handler here matches the tags ${event.tags.join(", ")}.` } };
    const laters = thrown.filter((error): error is Later => error instanceof Later);
    const failures = thrown.filter((error) => !(error instanceof Later));
    if (failures.length) {
      const error_message = text([...failures.map(said), ...errors].join("\n"));
      const permanent = failures.some((error) => error instanceof Permanent);
      return { kind: "failed", body: { ...timed, error_message, ...(permanent && { permanent }) } };
    }
    if (laters.length) {
      const seconds = Math.ceil(Math.max(...laters.map((later) => later.seconds)));
      const reason = line(laters.map((later) => later.message).filter(Boolean).join("; "));
      const delay = Math.min(delaySecondsMax, Math.max(0, seconds));
      return { kind: "released", body: { ...id, delay, ...(reason && { reason }) } };
    }
    return { kind: "completed", body: { ...timed, ...(errors.length && { errors: errors.slice(0, 100).map(text) }) } };
  }
}

function said(error: unknown): string {
  if (error instanceof Permanent) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** As much of it as the server takes. */
function text(whole: string): string {
  const clean = new TextDecoder().decode(new TextEncoder().encode(whole.replaceAll("\0", "\ufffd"))); // no lone surrogates
  return clean.slice(0, new TextEncoder().encodeInto(clean, new Uint8Array(textBytesMax)).read);
}

function line(whole: string): string {
  return [...text(whole).replace(/[\p{C}\p{Z}]/gu, " ")].slice(0, reasonCharactersMax).join("");
}
