// client.ts: the calls of one server.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";

import { EventqError, TimedOut, Unavailable, UnknownOutcome, isTransient, problemError } from "./errors.js";
import type {
  ClaimedEvent, Completion, Correlation, Entry, Failure, Holder, ListRequest, NewEvent, NewEventMembers, Page, Problem, QueueEvent,
  QueueState, Release, Reported, StreamRequest, Tags, TurnRequest,
} from "./types.js";

const waitMax = 60; // seconds the server waits in one call
const silenceMax = 45; // seconds without a byte after which a stream is taken for dead; the server sends one every 15

export interface ClientOptions {
  /** "{hostname}:{pid}" unless given. */
  workerId?: string;
  /** Seconds for one answer, beside what the call itself waits; 30 unless given. */
  timeout?: number;
  /** Tries of one call, the first counted; 5 unless given. */
  tries?: number;
}

export interface Turn {
  /** One for each report: completed, failed, released, alive. */
  results: (Entry | EventqError)[];
  events: ClaimedEvent[];
}

type Query = Record<string, string | number | readonly string[] | undefined>;

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
  readonly timeout: number;
  readonly tries: number;

  constructor(url = "http://127.0.0.1:8080", options: ClientOptions = {}) {
    const parsed = new URL(url);
    if (!/^https?:$/.test(parsed.protocol) || parsed.pathname !== "/" || parsed.search)
      throw new TypeError(`The URL ${url} is not http://HOST:PORT.`);
    this.url = parsed.origin;
    this.workerId = options.workerId ?? `${hostname()}:${process.pid}`;
    this.timeout = options.timeout ?? 30;
    this.tries = options.tries ?? 5;
    if (!(this.tries >= 1)) throw new TypeError(`tries is ${this.tries}; it must be 1 or more.`);
  }

  // Publish.

  /** Stores one event; without a title it is called after its tags. docs/api.md says what the members mean. */
  async publish(tags: Tags, payload?: unknown, members: NewEventMembers = {}): Promise<QueueEvent> {
    return shown(await this.#publish<QueueEvent>("/events", newEvent({ ...members, tags, payload })));
  }

  /** Stores all events or none. */
  async publishBatch(
    events: readonly NewEvent[],
    options: { correlation_id?: string; ordered?: boolean; on_complete?: NewEvent } = {},
  ): Promise<{ correlation_id: string; events: QueueEvent[] }> {
    const on_complete = options.on_complete && newEvent(options.on_complete);
    const body = { ...options, on_complete, events: events.map(newEvent) };
    return withEvents(await this.#publish<{ correlation_id: string; events: QueueEvent[] }>("/events/batch", body));
  }

  // Work.

  /** A worker's turn: reports, then claims up to `limit` events, 1 unless given. */
  async next(turn: TurnRequest, how: { tries?: number; timeout?: number } = {}): Promise<Turn> {
    const body = { limit: 1, ...turn, worker_id: turn.worker_id ?? this.workerId };
    const answer = await this.call<{ results: Problem[]; events: ClaimedEvent[] }>("POST", "/events/next", {
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

  complete(event: ClaimedEvent | number, how: Completion & Holder = {}): Promise<Entry> {
    return this.#report("complete", event, how);
  }

  /** `retry_scheduled` of the entry says whether this was the last failure. */
  fail(event: ClaimedEvent | number, error_message?: string, how: Failure & Holder = {}): Promise<Entry> {
    return this.#report("fail", event, { ...how, ...(error_message !== undefined && { error_message }) });
  }

  /** Gives the event back, to be claimed after `delay` seconds. No failure is counted. */
  release(event: ClaimedEvent | number, how: Release & Holder = {}): Promise<Entry> {
    return this.#report("release", event, how);
  }

  /** The lease now ends one full lease from now. */
  heartbeat(event: ClaimedEvent | number, how: Holder = {}): Promise<{ lease_until: string }> {
    return this.#report("heartbeat", event, how);
  }

  /** Events as they are claimed for this worker, pushed by the server. A broken connection is made anew. */
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

  // Look, wait, intervene.

  async get(id: number): Promise<QueueEvent> {
    return shown(await this.call<QueueEvent>("GET", `/events/${id}`));
  }

  /** What happened to the event, oldest first. */
  async log(id: number): Promise<Entry[]> {
    return (await this.call<{ logs: Entry[] }>("GET", `/events/${id}`, { query: { include_logs: "true" } })).logs;
  }

  /** Why the event is where it is. */
  why(id: number): Promise<{ id: number; status: string; reason: string; explanation: string }> {
    return this.call("GET", `/events/${id}/why`);
  }

  /** The event once it has ended. Throws TimedOut when it has not after `timeout` seconds. */
  async wait(id: number, timeout = 30): Promise<QueueEvent> {
    return shown(await this.#wait<QueueEvent>(`/events/${id}/wait`, timeout));
  }

  /** One page of events, without their payloads. */
  async list(request: ListRequest = {}): Promise<Page> {
    return withEvents(await this.call<Page>("GET", "/events", { query: { ...request } }));
  }

  /** All events that list() would show, `limit` to a call. */
  async *iterate(request: ListRequest = {}): AsyncGenerator<QueueEvent, void> {
    const limit = request.limit ?? 1000;
    let page = (await this.list({ ...request, limit })).events;
    for (;;) {
      for (const event of page) yield event;
      const last = page[limit - 1];
      if (!last) return;
      page = (await this.list({ ...request, limit, after_id: last.id })).events;
    }
  }

  /** What became of the events with this correlation id. */
  async correlation(name: string, request: { limit?: number; after_id?: number } = {}): Promise<Correlation> {
    return withEvents(await this.call<Correlation>("GET", `/events/correlation/${encodeURIComponent(name)}`, { query: { ...request } }));
  }

  /** The same, once none of them is live. Throws TimedOut. */
  async waitCorrelation(name: string, timeout = 30): Promise<Correlation> {
    return withEvents(await this.#wait<Correlation>(`/events/correlation/${encodeURIComponent(name)}/wait`, timeout));
  }

  /** Makes the event pending; a worker that holds it loses it. */
  reset(id: number, reason?: string): Promise<Entry> {
    return this.#once(`/events/${id}/reset`, reason);
  }

  cancel(id: number, reason?: string): Promise<Entry> {
    return this.#once(`/events/${id}/cancel`, reason);
  }

  /** The queue without its events; `config` has the settings in force. */
  queue(name: string): Promise<QueueState> {
    return this.call("GET", `/queues/${encodeURIComponent(name)}`, { query: { events: 0 } });
  }

  async queues(): Promise<QueueState[]> {
    return (await this.call<{ queues: QueueState[] }>("GET", "/queues")).queues;
  }

  /** Replaces all settings of the queue, which is created if need be. */
  configure(name: string, settings: Record<string, unknown>): Promise<QueueState> {
    return this.call("PUT", `/queues/${encodeURIComponent(name)}`, { body: settings });
  }

  // How calls are made.

  /** Any call of the API, made until it is answered, by a value or a refusal that another try would not change. */
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
    // One key for all tries: what arrives twice is stored once.
    return this.call("POST", path, { body, headers: { "Idempotency-Key": randomUUID() } });
  }

  #once(path: string, reason: string | undefined): Promise<Entry> {
    // A second one would take the event from the worker that has it by then.
    return this.call("POST", path, { query: { reason }, tries: 1 });
  }

  async #report<T>(action: string, event: ClaimedEvent | number, how: Holder): Promise<T> {
    const held = typeof event === "number" ? { id: event, attempt: undefined, worker_id: null } : event;
    const worker_id = how.worker_id ?? held.worker_id ?? this.workerId;
    const body = { ...how, worker_id, attempt: how.attempt ?? held.attempt };
    try {
      return await this.call("POST", `/events/${held.id}/${action}`, { body });
    } catch (error) {
      if (!(error instanceof EventqError) || error.kind !== "max-retries-exceeded") throw error;
      return lastFailure(error.problem, worker_id, { ...body, id: held.id }) as unknown as T;
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

/** Full jitter: seconds before the next try. */
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

function target(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length ? `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : path;
}

/** The body of an answer. Throws what a refusal means. */
function read(response: Response, text: string): unknown {
  let body: Problem = {};
  try {
    body = JSON.parse(text) as Problem;
  } catch {
    if (response.ok) throw new UnknownOutcome("The answer is not JSON; is this an eventq server?", 0, "no-answer");
  }
  if (response.ok) return body;
  throw problemError(response.status, body, response.headers.get("Retry-After"));
}

/** What fetch() throws when a connection fails or breaks, or when it was aborted. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === "AbortError");
}

function noAnswer(url: string, method: string, error: unknown): EventqError {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  const why = cause?.message ?? String(error);
  if (/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(cause?.code ?? ""))
    return new Unavailable(`Cannot connect to ${url}: ${why}`, 0, "no-connection");
  // Reading changes nothing, so its outcome is known.
  const made = method === "GET" ? Unavailable : UnknownOutcome;
  return new made(`There was no answer from ${url}: ${why}`, 0, "no-answer");
}

function newEvent(event: NewEvent): Record<string, unknown> {
  const title = event.title ?? String(event.tags).slice(0, 200);
  return { ...event, ...(title && { title }) };
}

function shown<T extends QueueEvent>(event: T): T {
  const tags: unknown = event.tags;
  return typeof tags === "string" ? { ...event, tags: tags.split(",") } : event;
}

function withEvents<T extends { events: QueueEvent[] }>(answer: T): T {
  return { ...answer, events: answer.events.map(shown) };
}

/** One of the results of a turn, as the single call would give it. */
function reportResult(result: Problem, worker_id: string, report: Reported<Completion | Failure | Release>): Entry | EventqError {
  const { status, ...entry } = result;
  if (status === 200) return entry as unknown as Entry;
  const error = problemError(Number(status), result);
  return error.kind === "max-retries-exceeded" ? lastFailure(result, worker_id, report) : error;
}

/** The entry of a failure that is final: it was recorded, so it is no error. */
function lastFailure(problem: Problem, worker_id: string, report: Reported<Failure>): Entry {
  const { id, permanent: _, ...members } = report;
  return {
    ...members,
    event_id: id,
    worker_id,
    action: "FAILED",
    retry_scheduled: false,
    next_retry_at: null,
    retry_count: problem["retry_count"],
    max_retries: problem["max_retries"],
  };
}
