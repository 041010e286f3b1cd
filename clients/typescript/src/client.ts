// client.ts: calls to one server. Uses fetch() and other parts of the web platform only, no module of Node.
import { EventqError, TimedOut, Unavailable, UnknownOutcome, isTransient, problemError } from "./errors.js";
import type {
  Batch, BatchOptions, ClaimedEvent, Completed, Completion, Correlation, Entry, EventDetails, EventName, EventSummary, Extended,
  Failed, Failure, FailureGroup, FinalFailure, Holder, ListRequest, NewEvent, NewEventMembers, Overview, Page, Problem, QueueEvent,
  QueueSettings, QueueState, Recorded, Release, Released, StreamRequest, Tags, TurnRequest, Why, WorkerLog, WorkerState, components,
} from "./types.js";

const waitMax = 60; // seconds of one call; proxies close connections that are silent for longer
const signOffSeconds = 5; // time limit of a stopping worker's last call
const detailBytesMax = 65536;
const silenceMax = 45; // seconds without a byte before a stream reconnects; the server sends a byte every 15

export interface ClientOptions {
  /** The name of this client as a worker. The default is random; a Worker of "eventq/worker" then has a name of its own. */
  workerId?: string;
  /** Seconds for one answer, in addition to the wait of the call. The default is 30. */
  timeout?: number;
  /** Tries of one call, including the first. The default is 5. */
  tries?: number;
}

export interface Turn {
  /** One per report, in this order: completed, failed, released, alive. */
  results: (Recorded | EventqError)[];
  events: ClaimedEvent[];
}

type Schemas = components["schemas"];
type Query = Record<string, string | number | readonly string[] | undefined>;

/** An event as a report names it. */
interface Held {
  id: EventName;
  attempt?: number;
  worker_id?: string | null;
}

/** A report in a call of next(). */
type Report = { id: EventName; attempt?: number | null } & Failure;

/** The answer to one report. Its status is 200, or that of an error. */
type Result = Partial<Omit<Schemas["RefusedResult"], "status">> & { status: number };

interface CallOptions {
  body?: unknown;
  query?: Query;
  headers?: Record<string, string>;
  wait?: number;
  tries?: number;
  timeout?: number;
}

export class Client {
  readonly url: string;
  readonly workerId: string;
  /** Whether the caller chose workerId. */
  readonly isNamed: boolean;
  readonly timeout: number;
  readonly tries: number;

  constructor(url = "http://127.0.0.1:8080", options: ClientOptions = {}) {
    const parsed = new URL(url);
    if (!/^https?:$/.test(parsed.protocol) || parsed.pathname !== "/" || parsed.search)
      throw new TypeError(`The URL ${url} is not http://HOST:PORT.`);
    this.url = parsed.origin;
    this.isNamed = options.workerId !== undefined;
    this.workerId = options.workerId ?? `client-${uniqueKey().slice(0, 12)}`;
    this.timeout = options.timeout ?? 30;
    this.tries = options.tries ?? 5;
    if (!(this.tries >= 1)) throw new TypeError(`tries is ${this.tries}; it must be 1 or more.`);
  }

  // Publish.

  /** Stores one event. The default title is its tags. docs/api.md describes the members. */
  async publish<T = unknown>(tags: Tags, payload?: T, members: NewEventMembers = {}): Promise<QueueEvent<T>> {
    return shown(await this.#publish<QueueEvent<T>>("/events", newEvent({ ...members, tags, payload })));
  }

  /** Stores all events or none. */
  async publishBatch(events: readonly NewEvent[], options: BatchOptions = {}): Promise<Batch> {
    const on_complete = options.on_complete && newEvent(options.on_complete);
    const body = { ...options, on_complete, events: events.map(newEvent) };
    return withEvents(await this.#publish<Batch>("/events/batch", body));
  }

  // Work.

  /** One call of a worker: sends reports, then claims up to `limit` events (the default is 1). */
  async next(turn: TurnRequest, how: { tries?: number; timeout?: number } = {}): Promise<Turn> {
    const body = { limit: 1, ...turn, worker_id: turn.worker_id ?? this.workerId };
    const answer = await this.call<{ results: Result[]; events: ClaimedEvent[] }>("POST", "/events/next", {
      body,
      wait: turn.wait ?? 0,
      ...how,
    });
    const reports = [...(turn.completed ?? []), ...(turn.failed ?? []), ...(turn.released ?? []), ...(turn.alive ?? [])];
    return {
      results: answer.results.map((result, index) => reportResult(result, body.worker_id, reports[index]!)),
      events: answer.events.map(shown),
    };
  }

  /** Completes the event. `result` is any JSON value. With `errors` its status becomes COMPLETED_WITH_ERRORS. */
  complete(event: Held | EventName, how: Completion & Holder = {}): Promise<Completed> {
    return this.#report("complete", event, how);
  }

  /**
   * `error_detail` is, for example, a stack trace; of a long one the end is kept. `retry_scheduled` of the entry is false
   * after the last failure.
   */
  fail(event: Held | EventName, error_message?: string | null, how: Failure & Holder = {}): Promise<Failed> {
    if (how.error_detail != null) how = { ...how, error_detail: shortDetail(how.error_detail) };
    return this.#report("fail", event, { ...how, ...(error_message != null && { error_message }) });
  }

  /** Releases the event; a worker can claim it after `delay` seconds. Counts no failure. */
  release(event: Held | EventName, how: Release & Holder = {}): Promise<Released> {
    return this.#report("release", event, how);
  }

  /** Extends the lease to one full lease from now. */
  heartbeat(event: Held | EventName, how: Holder = {}): Promise<Extended> {
    return this.#report("heartbeat", event, how);
  }

  /** Events that the server claims for this worker and pushes. Reconnects when the connection breaks. */
  async *stream(request: StreamRequest = {}): AsyncGenerator<ClaimedEvent, void> {
    const { signal, ...query } = request;
    for (let failures = 1; !signal?.aborted; ++failures) {
      try {
        for await (const event of this.#streamOnce({ ...query, worker_id: query.worker_id ?? this.workerId }, signal)) {
          failures = 0;
          yield event;
        }
      } catch (error) {
        if (error instanceof EventqError && !isTransient(error)) throw error;
        if (!(error instanceof EventqError) && !isBroken(error)) throw error;
      }
      await sleep(pause(failures), signal);
    }
  }

  // Read, wait, administer.

  /** The event with all its members. */
  async get<T = unknown>(id: EventName): Promise<EventDetails<T>> {
    return shown(await this.call<EventDetails<T>>("GET", `/events/${named(id)}`));
  }

  /** The audit log entries of the event, oldest first. */
  async log(id: EventName): Promise<Entry[]> {
    return (await this.call<{ logs: Entry[] }>("GET", `/events/${named(id)}`, { query: { include_logs: "true" } })).logs;
  }

  /** Explains the status of the event. */
  why(id: EventName): Promise<Why> {
    return this.call("GET", `/events/${named(id)}/why`);
  }

  /** Waits for the end of the event and returns it. Throws TimedOut after `timeout` seconds. */
  async wait<T = unknown>(id: EventName, timeout = 30): Promise<EventDetails<T>> {
    return shown(await this.#wait<EventDetails<T>>(`/events/${named(id)}/wait`, timeout));
  }

  /** One page of events, without their payloads. */
  async list(request: ListRequest = {}): Promise<Page> {
    return withEvents(await this.call<Page>("GET", "/events", { query: { ...request } }));
  }

  /** All events that list() would show, `limit` per call. */
  async *iterate(request: ListRequest = {}): AsyncGenerator<EventSummary, void> {
    let page = await this.list({ limit: 1000, ...request });
    for (;;) {
      for (const event of page.events) yield event;
      if (page.next === null) return;
      page = await this.list({ limit: 1000, ...request, offset: 0, cursor: page.next });
    }
  }

  /** The events with this correlation id, and their counts. */
  async correlation(name: string, request: { limit?: number; after_id?: number } = {}): Promise<Correlation> {
    return withEvents(await this.call<Correlation>("GET", `/events/correlation/${encodeURIComponent(name)}`, { query: { ...request } }));
  }

  /** Waits until none of these events is live, then returns the same as correlation(). Throws TimedOut. */
  async waitCorrelation(name: string, timeout = 30): Promise<Correlation> {
    return withEvents(await this.#wait<Correlation>(`/events/correlation/${encodeURIComponent(name)}/wait`, timeout));
  }

  /** Makes the event pending. A worker that holds it loses its lease. `by` is the person, for the log. */
  reset(id: EventName, reason?: string, by?: string): Promise<Schemas["WasReset"]> {
    return this.#once(`/events/${named(id)}/reset`, { reason, by });
  }

  /** Ends the event as CANCELLED. A worker that holds it loses its lease. `by` is the person, for the log. */
  cancel(id: EventName, reason?: string, by?: string): Promise<Schemas["WasCancelled"]> {
    return this.#once(`/events/${named(id)}/cancel`, { reason, by });
  }

  /** What the server knows about a worker: when it was last seen, the events it holds, and its counts. */
  worker(id: string): Promise<WorkerState> {
    return this.call("GET", `/workers/${encodeURIComponent(id)}`);
  }

  /** All workers, as worker() shows each. */
  async workers(): Promise<WorkerState[]> {
    return (await this.call<{ workers: WorkerState[] }>("GET", "/workers")).workers;
  }

  /** Failed events in groups with the same cause, the largest first. */
  async failures(): Promise<FailureGroup[]> {
    return (await this.call<{ failures: FailureGroup[] }>("GET", "/failures")).failures;
  }

  /** What a worker did, newest event first. Send `next` as `before` until it is null. */
  workerLog(id: string, request: { limit?: number; before?: string } = {}): Promise<WorkerLog> {
    return this.call("GET", `/workers/${encodeURIComponent(id)}/log`, { query: { ...request } });
  }

  /** Says that a worker has stopped. A stopping Worker does this itself. An older server ignores it. */
  async signOff(workerId = this.workerId): Promise<void> {
    try {
      await this.call("DELETE", `/workers/${encodeURIComponent(workerId)}`, { tries: 1, timeout: signOffSeconds });
    } catch (error) {
      if (!(error instanceof EventqError) || (error.status !== 404 && error.status !== 405)) throw error;
    }
  }

  /** Queues, workers, failures and rates in one call, as `eventq top` shows them. */
  overview(): Promise<Overview> {
    return this.call("GET", "/overview");
  }

  /** The queue without its events; `config` has the current settings. */
  queue(name: string): Promise<QueueState> {
    return this.call("GET", `/queues/${encodeURIComponent(name)}`, { query: { events: 0 } });
  }

  /** All queues, as queue() shows each. */
  async queues(): Promise<QueueState[]> {
    return (await this.call<{ queues: QueueState[] }>("GET", "/queues")).queues;
  }

  /** Replaces all settings of the queue. Creates the queue if it does not exist. */
  configure(name: string, settings: QueueSettings): Promise<QueueState> {
    return this.call("PUT", `/queues/${encodeURIComponent(name)}`, { body: settings });
  }

  // Implementation of the calls.

  /** Makes any call of the API. Repeats it until it succeeds, or fails with an error that a retry would not change. */
  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const tries = options.tries ?? this.tries;
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    for (let tried = 1; ; ++tried) {
      try {
        return (await this.#try(method, path, body, options)) as T;
      } catch (error) {
        if (tried >= tries || !isTransient(error)) throw error;
        await sleep(pause(tried, error.retryAfter));
      }
    }
  }

  #publish<T>(path: string, body: unknown): Promise<T> {
    // All tries share one key, so the server stores the events once.
    return this.call("POST", path, { body, headers: { "Idempotency-Key": uniqueKey() } });
  }

  #once<T>(path: string, query: { reason: string | undefined; by: string | undefined }): Promise<T> {
    // A second try could take the event from its new worker.
    return this.call("POST", path, { query, tries: 1 });
  }

  async #report<T>(action: string, event: Held | EventName, how: Holder): Promise<T> {
    const held: Held = typeof event === "object" ? event : { id: event };
    const worker_id = how.worker_id ?? held.worker_id ?? this.workerId;
    const body = { ...how, worker_id, attempt: how.attempt ?? held.attempt };
    try {
      return await this.call("POST", `/events/${named(held.id)}/${action}`, { body });
    } catch (error) {
      if (!(error instanceof EventqError) || !lastFailures.has(error.kind)) throw error;
      return finalFailure(error.problem, worker_id, { ...body, id: held.id }) as unknown as T;
    }
  }

  async #wait<T>(path: string, timeout: number): Promise<T> {
    const end = performance.now() + timeout * 1000;
    for (;;) {
      const seconds = Math.min(waitMax, Math.max(0, Math.ceil((end - performance.now()) / 1000)));
      try {
        return await this.call<T>("POST", path, { query: { timeout: seconds }, wait: seconds });
      } catch (error) {
        if (!(error instanceof TimedOut) || performance.now() >= end) throw error;
      }
    }
  }

  async #try(method: string, path: string, body: string | undefined, options: CallOptions): Promise<unknown> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), 1000 * ((options.timeout ?? this.timeout) + (options.wait ?? 0)));
    try {
      const headers = { ...(body !== undefined && { "Content-Type": "application/json" }), ...options.headers };
      const response = await fetch(this.url + target(path, options.query), { method, headers, body: body ?? null, signal: late.signal });
      return read(response, await response.text());
    } catch (error) {
      if (error instanceof EventqError) throw error;
      throw noAnswer(this.url, method, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async *#streamOnce(query: Query, signal: AbortSignal | undefined): AsyncGenerator<ClaimedEvent, void> {
    const over = new AbortController();
    const end = () => over.abort();
    signal?.addEventListener("abort", end);
    let timer = setTimeout(end, silenceMax * 1000);
    try {
      const response = await fetch(this.url + target("/events/stream", query), {
        headers: { Accept: "text/event-stream" },
        signal: over.signal,
      });
      if (!response.ok) read(response, await response.text());
      const reader = response.body!.getReader();
      const decoder = new TextDecoder();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(end, silenceMax * 1000);
        const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
        rest = blocks.pop()!;
        for (const block of blocks) {
          const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
          if (data.length) yield shown(JSON.parse(data.join("\n")) as ClaimedEvent);
        }
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      over.abort();
    }
  }
}

/** Seconds before the next try, with full jitter. */
export function pause(failures: number, retryAfter = 0): number {
  return Math.random() * Math.min(10, 0.1 * 2 ** failures) + Math.min(retryAfter, 10);
}

export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}

/** Shortens an error_detail to the server's limit. Keeps the end, and replaces characters that the server rejects. */
export function shortDetail(whole: string): string {
  const bytes = new TextEncoder().encode(whole.replaceAll("\0", "\ufffd"));
  let start = Math.max(0, bytes.length - detailBytesMax);
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) ++start; // the middle of a character
  return new TextDecoder().decode(bytes.subarray(start));
}

/** A key that no other call has. It must be unique, not secret: Node 18 has no global `crypto`. */
function uniqueKey(): string {
  const bytes = new Uint8Array(16);
  if (globalThis.crypto) globalThis.crypto.getRandomValues(bytes);
  else bytes.forEach((_, index) => (bytes[index] = Math.floor(Math.random() * 256)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The event as a part of a path. */
function named(id: EventName): string {
  return encodeURIComponent(String(id));
}

function target(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : path;
}

/** Returns the body of the answer. Throws the error for a status that is not 2xx. */
function read(response: Response, text: string): unknown {
  if (response.status === 204) return undefined;
  let body: Problem = {};
  try {
    body = JSON.parse(text) as Problem;
  } catch {
    if (response.ok) throw new UnknownOutcome("The answer is not JSON; is this an eventq server?", 0, "no-answer");
  }
  if (response.ok) return body;
  throw problemError(response.status, body, response.headers.get("Retry-After"));
}

/** Whether fetch() threw because a connection failed, broke, or was aborted. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === "AbortError");
}

function noAnswer(url: string, method: string, error: unknown): EventqError {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  const why = cause?.message ?? String(error);
  if (/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(cause?.code ?? ""))
    return new Unavailable(`Cannot connect to ${url}: ${why}`, 0, "no-connection");
  // A GET changes nothing, so its outcome is known.
  const made = method === "GET" ? Unavailable : UnknownOutcome;
  return new made(`No answer from ${url}: ${why}`, 0, "no-answer");
}

function newEvent(event: NewEvent): Record<string, unknown> {
  const title = event.title ?? String(event.tags).slice(0, 200);
  return { ...event, ...(title && { title }) };
}

function shown<T extends { tags: string[] }>(event: T): T {
  const tags: unknown = event.tags;
  return typeof tags === "string" ? { ...event, tags: tags.split(",") } : event;
}

function withEvents<T extends { events: { tags: string[] }[] }>(answer: T): T {
  return { ...answer, events: answer.events.map(shown) };
}

/** The report was recorded, and no retry follows. */
const lastFailures: ReadonlySet<string> = new Set(["max-retries-exceeded", "failed-permanently"]);

/** Converts one result of next() to the result of the corresponding single call. */
function reportResult(result: Result, worker_id: string, report: Report): Recorded | EventqError {
  const { status, ...recorded } = result;
  if (status === 200) return recorded as Recorded;
  const error = problemError(status, result);
  return lastFailures.has(error.kind) ? finalFailure(result, worker_id, report) : error;
}

/** The server recorded the report, so the call succeeded. */
function finalFailure(problem: Problem, worker_id: string, report: Report): FinalFailure {
  const { id, permanent: _, ...members } = report;
  return {
    ...members,
    event_id: problem.event_id ?? id,
    worker_id,
    action: "FAILED",
    retry_scheduled: false,
    next_retry_at: null,
    retry_count: problem.retry_count,
    max_retries: problem.max_retries,
  };
}
