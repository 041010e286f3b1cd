// worker.ts: the worker, and calls over connections that break. EVENTQ_URL names a server with a lease of six seconds.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import { Server, Socket, connect, createServer } from "node:net";
import process from "node:process";
import test from "node:test";

import { Client, EventqError, InvalidRequest, QueueFull, Unavailable, UnknownOutcome } from "eventq";
import type { ClaimedEvent, QueueEvent } from "eventq";
import { Done, Later, Permanent, Worker } from "eventq/worker";
import type { Handler, WorkerOptions } from "eventq/worker";

const url = new URL(process.env["EVENTQ_URL"]!);
const client = new Client(url.href);
const atOnce = { kind: "fixed", baseMs: 0, capMs: 0, jitter: 0 } as const;
const enough = 60; // seconds; time limit for steps that take milliseconds on an idle machine
const lease = 6; // seconds; heartbeats are sent after two, so a slow machine has four to commit one

/** A TCP proxy to the server that can drop answers and cut connections. */
class Proxy {
  down = false;
  answersToLose = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((near) => {
      if (this.down) return near.destroy();
      const far = connect(Number(url.port), url.hostname);
      for (const [from, to] of [[near, far], [far, near]] as const) {
        this.#sockets.add(from);
        from.on("error", () => {});
        from.on("close", () => (this.#sockets.delete(from), to.destroy()));
      }
      near.on("data", (bytes) => void far.write(bytes));
      far.on("data", (bytes) => {
        if (this.answersToLose > 0) {
          --this.answersToLose;
          near.destroy();
        } else near.write(bytes);
      });
    });
  }

  static async open(): Promise<Proxy> {
    const proxy = new Proxy();
    await new Promise<void>((ready) => proxy.#server.listen(0, "127.0.0.1", ready));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  cut(): void {
    this.down = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

interface TurnBody {
  alive?: object[];
  [reports: string]: unknown;
}
type Answer = [status: number, body: object | string];

/** Runs `check` with a client of a server that answers with answer(body, path). */
async function withScriptedServer(
  answer: (body: TurnBody, path: string) => Promise<Answer> | Answer,
  check: (scripted: Client) => Promise<void>,
): Promise<void> {
  const server = createHttpServer((request, response) => {
    let text = "";
    request.on("data", (bytes) => (text += new TextDecoder().decode(bytes)));
    request.on("end", async () => {
      const [status, body] = await answer(JSON.parse(text || "{}") as TurnBody, request.url);
      response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  await check(new Client(`http://127.0.0.1:${server.address().port}`)).finally(() => server.close());
}

/** The answer of the real server: status and body. */
async function forwarded(body: TurnBody, path: string): Promise<[number, { events: ClaimedEvent[] }]> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(client.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return [response.status, (await response.json()) as { events: ClaimedEvent[] }];
}

const isHeartbeat = (body: TurnBody, path: string) => path.endsWith("/heartbeat") || body.alive !== undefined;
const reports = (body: TurnBody) =>
  ["completed", "failed", "released"].flatMap((kind) => (body[kind] ?? []) as { id: number; attempt: number }[]);

/** An event that one function sets and others wait for. */
function signal(): { set: () => void; wait: Promise<void> } {
  let set = () => {};
  const wait = new Promise<void>((resolve) => (set = resolve));
  return { set, wait };
}

/** Resolves to whether the signal was aborted within `seconds`. */
function aborted(lost: AbortSignal, seconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(lost.aborted), seconds * 1000);
    lost.addEventListener("abort", () => (clearTimeout(timer), resolve(true)));
  });
}

const newTag = () => randomUUID().replaceAll("-", "");
const actions = async (id: number) => (await client.log(id)).map((entry) => entry.action).filter((action) => action !== "PICKED");

/** Runs `check` while a worker handles events with a new tag. */
async function withWorker(
  handler: Handler<any>,
  check: (publish: (payload?: unknown) => Promise<QueueEvent>, worker: Worker, tag: string) => Promise<void>,
  options: WorkerOptions = {},
  by = client,
): Promise<void> {
  const tag = newTag();
  const worker = new Worker(by, { [tag]: handler }, { stopWithin: enough, logger: () => {}, ...options });
  worker.start();
  try {
    await check((payload) => client.publish(tag, payload, { retry: atOnce }), worker, tag);
  } finally {
    await worker.stop();
  }
}

async function withProxy(check: (proxy: Proxy) => Promise<void>): Promise<void> {
  const proxy = await Proxy.open();
  await check(proxy).finally(() => proxy.close());
}

void test("an event is handled once and completed", async () => {
  const seen: ClaimedEvent[] = [];
  await withWorker((event) => void seen.push(event), async (publish, _, tag) => {
    const { id } = await publish({ text: "grün 🌱" });
    assert.equal((await client.wait(id, enough)).status, "COMPLETED");
    assert.deepEqual(seen.map((event) => [event.id, event.attempt, event.tags, event.payload]), [[id, 1, [tag], { text: "grün 🌱" }]]);
  });
});

void test("five hundred events are each handled once", async () => {
  const seen: number[] = [];
  const handler: Handler = (event) => void seen.push(event.payload as number);
  await withWorker(handler, async (_, __, tag) => {
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    const { correlation_id } = await client.publishBatch(numbers.map((payload) => ({ tags: tag, payload })));
    assert.equal((await client.waitCorrelation(correlation_id, enough)).completed, 500);
    assert.deepEqual(seen.sort((a, b) => a - b), numbers);
  }, { concurrency: 8 });
});

void test("a list returned by a handler becomes the errors of the completion", () =>
  withWorker(() => ["3 rows skipped"], async (publish) => {
    const { id } = await publish();
    assert.equal((await client.wait(id, enough)).status, "COMPLETED_WITH_ERRORS");
    assert.deepEqual((await client.log(id)).at(-1)?.["errors"], ["3 rows skipped"]);
  }));

void test("an error without a text completes the event with errors", () =>
  withWorker(() => ["", "3 rows skipped"], async (publish) => {
    const { id } = await publish();
    assert.equal((await client.wait(id, enough)).status, "COMPLETED_WITH_ERRORS");
    assert.deepEqual((await client.log(id)).at(-1)?.errors, ["An error without a message.", "3 rows skipped"]);
  }));

void test("an empty array has no errors", () =>
  withWorker(() => [], async (publish) => {
    const { status, result } = await client.wait((await publish()).id, enough);
    assert.deepEqual([status, result], ["COMPLETED", null]);
  }));

void test("an array that is no array of strings fails the event for good", async () => {
  const ofHandler =
    "The handler returned an array of other values than strings. " +
    "Return error messages as an array of strings, and an array that is the result as new Done(array).";
  const ofDone = "The errors of Done must be an array of strings.";
  const cases: [unknown, string][] = [
    [[1, 2], ofHandler], [["a", 1], ofHandler], [[{ a: 1 }], ofHandler], [[null], ofHandler], [[["a"]], ofHandler],
    [new Done(7, [1] as unknown as string[]), ofDone], [new Done(7, "text" as unknown as string[]), ofDone],
    [new Done(7, null as unknown as string[]), ofDone],
  ];
  await withWorker(({ payload }: ClaimedEvent<number>) => cases[payload]?.[0], async (publish) => {
    for (const [index, [, message]] of cases.entries()) {
      const { status, attempts, error_message } = await client.wait((await publish(index)).id, enough);
      assert.deepEqual([status, attempts, error_message], ["FAILED", 1, message]);
    }
  });
});

void test("what a handler returns is the result of its event", async () => {
  const returned: [unknown, unknown][] = [
    [{ sent: true, to: ["grün 🌱"] }, { sent: true, to: ["grün 🌱"] }], ["sent", "sent"], [2.5, 2.5], [false, false],
    [new Done(["a", "b"]), ["a", "b"]], [undefined, null], [null, null],
  ];
  const handler: Handler<number> = async ({ payload }) => returned[payload]?.[0];
  await withWorker(handler, async (publish) => {
    for (const [index, [, expected]] of returned.entries()) {
      const { status, result } = await client.wait((await publish(index)).id, enough);
      assert.deepEqual([status, result], ["COMPLETED", expected]);
    }
  });
});

void test("an event has a result beside its errors", () =>
  withWorker(() => new Done({ rows: 7 }, ["3 rows skipped"]), async (publish) => {
    const { id, status, result } = await client.wait((await publish()).id, enough);
    assert.deepEqual([status, result], ["COMPLETED_WITH_ERRORS", { rows: 7 }]);
    assert.deepEqual((await client.log(id)).at(-1)?.errors, ["3 rows skipped"]);
  }));

void test("a result that the server would refuse fails the event for good", async () => {
  const ring: { self?: object } = {};
  ring.self = ring;
  const returned: Record<string, unknown> = { most: "x".repeat(65534), more: "x".repeat(65535), ring, big: 1n, symbol: Symbol("s") };
  const handler: Handler<string> = ({ payload }) => returned[payload];
  await withWorker(handler, async (publish) => {
    for (const name of Object.keys(returned)) {
      const { status, attempts, error_message } = await client.wait((await publish(name)).id, enough);
      assert.deepEqual([status, attempts], [name === "most" ? "COMPLETED" : "FAILED", 1]);
      if (name === "more") assert.equal(error_message, "The result has 65537 bytes; at most 65536 are allowed.");
      else if (name !== "most") assert(error_message?.startsWith("The result is not JSON: "));
    }
  });
});

/** A value with so many levels. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; ++level) value = level % 2 ? { a: value } : [1, value, []];
  return value;
}

void test("a result that is nested too deep fails the event for good", () =>
  withWorker(({ payload }: ClaimedEvent<number>) => new Done(nested(payload)), async (publish) => {
    for (const levels of [60, 61]) {
      const { status, result } = await client.wait((await publish(levels)).id, enough);
      assert.deepEqual([status, result], ["COMPLETED", nested(levels)]);
    }
    for (const levels of [62, 63, 400]) {
      const { status, attempts, error_message } = await client.wait((await publish(levels)).id, enough);
      const message = `The result is nested ${levels} levels deep; at most 61 are allowed.`;
      assert.deepEqual([status, attempts, error_message], ["FAILED", 1, message]);
    }
  }));

void test("brackets in a text are no levels of a result", async () => {
  const result = { ["[{".repeat(100)]: ['\\"' + "[".repeat(100), '"\\', "{".repeat(100)] };
  await withWorker(() => result, async (publish) => {
    const ended = await client.wait((await publish()).id, enough);
    assert.deepEqual([ended.status, ended.result], ["COMPLETED", result]);
  });
});

void test("a result with a lone surrogate fails the event for good", async () => {
  const bad = ["\ud800", { text: ["a\udfff"] }, { "\udc00": 1 }, "\\\ud83c"];
  const good = ["\ud83c\udf31", "\\ud800", { "\\\\udc00": "\\\\\\udfff" }];
  await withWorker(({ payload }: ClaimedEvent<number>) => [...bad, ...good][payload], async (publish) => {
    for (const index of bad.keys()) {
      const { status, attempts, error_message } = await client.wait((await publish(index)).id, enough);
      const message = "The result is not JSON: a text in it has a lone surrogate.";
      assert.deepEqual([status, attempts, error_message], ["FAILED", 1, message]);
    }
    for (const [index, value] of good.entries()) {
      const { status, result } = await client.wait((await publish(bad.length + index)).id, enough);
      assert.deepEqual([status, result], ["COMPLETED", value]);
    }
  });
});

void test("a hundred large results are all stored", () =>
  withWorker(() => "ü".repeat(32767), async (_, __, tag) => {
    const { correlation_id } = await client.publishBatch(Array.from({ length: 100 }, () => ({ tags: tag })));
    const { completed, events } = await client.waitCorrelation(correlation_id, enough);
    assert.deepEqual([completed, events.every(({ attempts }) => attempts === 1)], [100, true]);
  }, { concurrency: 100 }));

void test("a failure has the stack trace as its detail, and is logged as a warning", async () => {
  const logged: [string, string][] = [];
  const deliver = () => {
    throw new RangeError("no such mailbox");
  };
  await withWorker(deliver, async (_, __, tag) => {
    const { id } = await client.publish(tag, null, { max_retries: 0 });
    const { error_message, error_detail } = await client.wait(id, enough);
    assert.equal(error_message, "RangeError: no such mailbox");
    assert(error_detail?.startsWith("RangeError: no such mailbox\n    at deliver "));
    assert.deepEqual(logged, [[`Event ${id} (${tag}) failed: RangeError: no such mailbox`, "warning"]]);
  }, { logger: (message, level) => void logged.push([message, level]) });
});

void test("the detail of a failure has the stack traces of its causes", async () => {
  const deliver = () => {
    const refused = new Error("connection refused", { cause: { code: 111 } });
    throw new TypeError("fetch failed", { cause: new RangeError("no route", { cause: refused }) });
  };
  await withWorker(deliver, async (_, __, tag) => {
    const { id } = await client.publish(tag, null, { max_retries: 0 });
    const { error_message, error_detail } = await client.wait(id, enough);
    assert.equal(error_message, "TypeError: fetch failed");
    const parts = String(error_detail).split("\nCaused by: ");
    assert.deepEqual(parts.map((part) => part.split("\n    at ")[0]),
      ["TypeError: fetch failed", "RangeError: no route", "Error: connection refused", '{"code":111}']);
    for (const part of parts.slice(0, 3)) assert(part.includes("\n    at deliver "));
  });
});

void test("an error that is its own cause is described once", async () => {
  const ring = new Error("round");
  ring.cause = new Error("and round", { cause: ring });
  await withWorker(() => Promise.reject(ring), async (_, __, tag) => {
    const { id } = await client.publish(tag, null, { max_retries: 0 });
    const { error_detail } = await client.wait(id, enough);
    assert.equal(String(error_detail).split("\nCaused by: ").length, 2);
  });
});

void test("a thrown value that is no error is described as text or JSON", async () => {
  const ring: { self?: object } = {};
  ring.self = ring;
  const thrown: [unknown, string][] = [
    [{ code: 404, why: "no mailbox" }, '{"code":404,"why":"no mailbox"}'], [[1, { a: 2 }], '[1,{"a":2}]'], [Object.create(null), "{}"],
    [{ toString: () => "own text" }, "own text"], ["plain", "plain"], [7n, "7"], [undefined, "undefined"], [null, "null"],
    [ring, "[object Object]"], [new Error(), "Error"], [new RangeError(""), "RangeError"], [new Permanent(), "Permanent"],
  ];
  const handler: Handler<number> = ({ payload }) => {
    throw thrown[payload]?.[0];
  };
  await withWorker(handler, async (_, __, tag) => {
    for (const [index, [, expected]] of thrown.entries()) {
      const { id } = await client.publish(tag, index, { max_retries: 0 });
      assert.equal((await client.wait(id, enough)).error_message, expected);
    }
  });
});

void test("later refuses a negative delay", async () => {
  for (const seconds of [-1, -0.001, -Infinity])
    await assert.rejects((async () => new Later(seconds))(), (error) => error instanceof RangeError && error.message.includes("0 or more"));
  assert.deepEqual([0, 0.001].map((seconds) => new Later(seconds).seconds), [0, 0.001]);
});

void test("of a detail that is too long the end is kept", async () => {
  const handler: Handler<number> = ({ payload }) => {
    const error = new Error("too long");
    error.stack = "ü".repeat(payload) + "END";
    throw error;
  };
  await withWorker(handler, async (_, __, tag) => {
    for (const count of [32766, 32767, 40000]) {
      const { id } = await client.publish(tag, count, { max_retries: 0 });
      const { error_detail } = await client.wait(id, enough);
      assert.equal(error_detail, "ü".repeat(Math.min(count, 32766)) + "END");
    }
  });
});

void test("a stopping worker signs off after its reports", async () => {
  const calls: string[] = [];
  const answer = (body: TurnBody, path: string): Promise<Answer> | Answer => {
    if (path.startsWith("/workers/") || reports(body).length) calls.push(path);
    return path.startsWith("/workers/") ? [204, ""] : forwarded(body, path);
  };
  await withScriptedServer(answer, (scripted) =>
    withWorker(() => {}, async (publish, worker) => {
      assert.equal((await client.wait((await publish()).id, enough)).status, "COMPLETED");
      await worker.stop();
      assert.deepEqual(calls, ["/events/next", "/workers/w%3A1"]);
    }, { workerId: "w:1" }, scripted));
});

void test("an exception fails the event, which is retried", async () => {
  const handler: Handler = ({ attempt }) => {
    if (attempt === 1) throw new RangeError("no such \0 luck " + "ü".repeat(20000));
  };
  await withWorker(handler, async (publish) => {
    const { id } = await publish();
    assert.equal((await client.wait(id, enough)).status, "COMPLETED");
    assert.deepEqual(await actions(id), ["FAILED", "COMPLETED"]);
    assert(String((await client.log(id))[1]?.["error_message"]).startsWith("RangeError: no such \ufffd luck üü"));
  });
});

void test("a permanent failure is not retried", async () => {
  const handler: Handler = async () => {
    throw new Permanent("card stolen");
  };
  await withWorker(handler, async (publish) => {
    const { status, attempts, error_message } = await client.wait((await publish()).id, enough);
    assert.deepEqual([status, attempts, error_message], ["FAILED", 1, "card stolen"]);
  });
});

void test("later releases the event without a failure", async () => {
  const handler: Handler = ({ attempt }) => {
    if (attempt === 1) throw new Later(0.5, "mail server\nis busy");
  };
  await withWorker(handler, async (publish) => {
    const { id } = await publish();
    const { status, retry_count } = await client.wait(id, enough);
    assert.deepEqual([status, retry_count, await actions(id)], ["COMPLETED", 0, ["RELEASED", "COMPLETED"]]);
    assert.equal((await client.log(id))[1]?.["reason"], "mail server is busy");
  });
});

void test("all matching handlers run and the worst result counts", async () => {
  const tag = newTag();
  const ran: string[] = [];
  const throwing = (name: string, error?: Error): Handler => () => {
    ran.push(name);
    if (error) throw error;
  };
  const handlers = { [tag]: throwing("later", new Later(0)), [`${tag}-b`]: throwing("permanent", new Permanent("x")), [`${tag}-c`]: throwing("other") };
  const worker = new Worker(client, handlers);
  worker.start();
  const { id } = await client.publish([`${tag}-b`, tag]);
  assert.equal((await client.wait(id, enough)).status, "FAILED");
  assert.deepEqual(ran, ["later", "permanent"]);
  await worker.stop();
});

void test("tags of handlers are trimmed as the server trims them", async () => {
  const tag = newTag();
  const seen: number[] = [];
  const worker = new Worker(client, { [` ${tag}\t`]: ({ id }) => void seen.push(id) });
  worker.start();
  const { id } = await client.publish(tag);
  assert.equal((await client.wait(id, enough)).status, "COMPLETED");
  assert.deepEqual(seen, [id]);
  await worker.stop();
});

void test("an event without a matching handler fails and is retried", () =>
  withScriptedServer(async (body, path) => {
    const [status, answer] = await forwarded(body, path);
    for (const event of answer.events ?? []) if (event.attempt === 1) event.tags = ["other"];
    return [status, answer];
  }, (scripted) =>
    withWorker(() => {}, async (publish) => {
      const { id } = await publish();
      assert.equal((await client.wait(id, enough)).status, "COMPLETED");
      assert.deepEqual(await actions(id), ["FAILED", "COMPLETED"]);
      assert.equal((await client.log(id))[1]?.["error_message"], "No handler here matches the tags other.");
    }, {}, scripted)));

void test("a thrown value without a text fails the event, which is retried", async () => {
  const get = () => {
    throw new Error("no text");
  };
  const handler: Handler = ({ attempt }) => {
    if (attempt === 1) throw Object.defineProperty(new Error(), "message", { get });
    if (attempt === 2) throw new Later(NaN);
    if (attempt === 3) throw new Later(null as unknown as number);
  };
  await withWorker(handler, async (_, __, tag) => {
    const { id } = await client.publish(tag, 1, { retry: atOnce, max_retries: 5 });
    assert.equal((await client.wait(id, enough)).status, "COMPLETED");
    assert.deepEqual(await actions(id), ["FAILED", "FAILED", "FAILED", "COMPLETED"]);
  }, { concurrency: 1 });
});

void test("an error of the worker itself ends run", () =>
  withScriptedServer(() => [200, { no: "events" }], (scripted) => assert.rejects(new Worker(scripted, () => {}).run(), (error) => error instanceof TypeError)));

void test("run rejects with the error of a refused claim", () =>
  assert.rejects(
    new Worker(client, () => {}, { tags: "no blank", logger: () => {} }).run(),
    (error) => error instanceof InvalidRequest && error.field === "tags",
  ));

void test("a handler that runs for three leases is not run twice", async () => {
  const lost: boolean[] = [];
  await withWorker(async (_, signal) => void lost.push(await aborted(signal, 3.5 * lease)), async (publish) => {
    const { status, attempts } = await client.wait((await publish()).id, enough);
    assert.deepEqual([status, attempts, lost], ["COMPLETED", 1, [false]]);
  });
});

void test("events that wait in the worker keep their leases", () =>
  withWorker(async (_, signal) => void (await aborted(signal, 1.2 * lease)), async (publish) => {
    const events = [await publish(), await publish(), await publish()];
    for (const { id } of events) assert.equal((await client.wait(id, enough)).attempts, 1);
  }, { concurrency: 1, prefetch: 2 }));

void test("a handler sees the lost lease and the next attempt counts", async () => {
  const begun = signal();
  const lost: boolean[] = [];
  const handler: Handler = async ({ attempt }, signal) => {
    if (attempt > 1) return;
    begun.set();
    lost.push(await aborted(signal, enough));
  };
  await withWorker(handler, async (publish) => {
    const { id } = await publish();
    await begun.wait;
    await client.reset(id);
    assert.equal((await client.wait(id, enough)).status, "COMPLETED");
    assert.deepEqual([await actions(id), (await client.log(id)).at(-1)?.attempt], [["RESET", "COMPLETED"], 2]);
  });
  assert.deepEqual(lost, [true]);
});

void test("a handler sees the lost lease in time while the heartbeat call hangs", async () => {
  const unblocked = signal();
  const lost: boolean[] = [];
  const handler: Handler = async ({ attempt }, signal) => {
    if (attempt === 1) lost.push(await aborted(signal, enough));
    unblocked.set();
  };
  const answer = async (body: TurnBody, path: string): Promise<Answer> => {
    if (isHeartbeat(body, path)) await unblocked.wait;
    return forwarded(body, path);
  };
  await withScriptedServer(answer, (scripted) =>
    withWorker(handler, async (publish) => {
      assert.equal((await client.wait((await publish()).id, enough)).status, "COMPLETED");
      assert.deepEqual(lost, [true]);
    }, {}, scripted));
});

void test("no handler begins an event whose lease has ended", async () => {
  const begun: [number, number][] = [];
  let other = 0;
  const over = async () => (await client.log(other)).some(({ attempt, action }) => attempt === 1 && action !== "PICKED");
  const handler: Handler = async ({ id, attempt }) => {
    begun.push([id, attempt]);
    const end = performance.now() + enough * 1000;
    if (begun.length === 1) while (!(await over()) && performance.now() < end); // until attempt 1 of `other` has ended on the server
  };
  await withScriptedServer((body, path) => (isHeartbeat(body, path) ? [503, {}] : forwarded(body, path)), (scripted) =>
    withWorker(handler, async (_, worker, tag) => {
      other = (await client.publishBatch([{ tags: tag }, { tags: tag }])).events[1]!.id;
      assert.equal((await client.wait(other, enough)).status, "COMPLETED");
      assert(!begun.some(([id, attempt]) => id === other && attempt === 1));
      await worker.stop();
    }, { concurrency: 1, prefetch: 1 }, scripted));
});

/** Checks that no call is much larger than 4 MiB when `count` reports are sent at once. */
async function checkSizeOfCalls(count: number, handle: () => unknown): Promise<void> {
  const times = { updated_at: "2025-01-01T00:00:00.000Z", lease_until: "2025-01-01T00:01:00.000Z" };
  const events = Array.from({ length: count }, (_, id) => ({ id, tags: "a", attempt: 1, ...times }));
  const waiting = new Set(events.map(({ id }) => id));
  const sizes: number[] = [];
  const allReported = signal();
  let returned = 0;
  const answer = (body: TurnBody): Answer => {
    const sent = reports(body);
    if (!sent.length) return [200, { results: [], events: events.splice(0, Number(body["limit"] ?? 0)) }];
    if (returned < count) return [503, {}]; // until the worker has all reports
    sizes.push(JSON.stringify(body).length);
    for (const { id } of sent) waiting.delete(id);
    if (!waiting.size) allReported.set();
    return [200, { results: sent.map(() => ({ status: 200 })), events: [] }];
  };
  const handler = () => {
    ++returned;
    return handle();
  };
  await withScriptedServer(answer, async (scripted) => {
    const worker = new Worker(scripted, handler, { concurrency: count, prefetch: 0, logger: () => {} });
    worker.start();
    await allReported.wait.finally(() => worker.stop());
  });
  assert(Math.max(...sizes) < 4.5 * 1024 * 1024, `${sizes}`);
}

void test("reports with long messages are sent in several calls", async () => {
  await checkSizeOfCalls(20, () => Array.from({ length: 30 }, () => "x".repeat(16384)));
  await checkSizeOfCalls(200, () => {
    throw new RangeError("x".repeat(16384));
  });
});

void test("one call extends all leases that are due", async () => {
  const kept = signal();
  const answer = (body: TurnBody, path: string) => {
    if (body.alive?.length === 5) kept.set();
    return forwarded(body, path);
  };
  await withScriptedServer(answer, (scripted) =>
    withWorker(() => kept.wait, async (_, __, tag) => {
      const { correlation_id } = await client.publishBatch(Array.from({ length: 5 }, () => ({ tags: tag })));
      const { events } = await client.waitCorrelation(correlation_id, enough);
      assert.deepEqual(events.map(({ attempts }) => attempts), [1, 1, 1, 1, 1]);
    }, { concurrency: 5 }, scripted));
});

void test("a lease starts with the answer and is extended at once after a long wait", async () => {
  const calls: string[] = [];
  const done = signal();
  const event = { id: 7, tags: "a", attempt: 1, updated_at: "2025-01-01T00:00:00.000Z", lease_until: "2025-01-01T00:00:01.000Z" };
  const answer = async (body: TurnBody, path: string): Promise<Answer> => {
    const sent = reports(body);
    if (isHeartbeat(body, path) || sent.length) {
      calls.push(isHeartbeat(body, path) ? "heartbeat" : (body["completed"] as object[]).length ? "completed" : "released");
      done.set();
      return [200, { results: (body.alive ?? sent).map(() => ({ status: 200 })), events: [] }];
    }
    await aborted(new AbortController().signal, 1.1); // longer than the lease
    return [200, { results: [], events: calls.length ? [] : [event] }];
  };
  await withScriptedServer(answer, async (scripted) => {
    const worker = new Worker(scripted, () => done.wait, { concurrency: 1, prefetch: 0, logger: () => {} });
    worker.start();
    await done.wait;
    await worker.stop();
    assert.deepEqual(calls, ["heartbeat", "completed"]);
  });
});

void test("stop waits for a handler and releases the other events", async () => {
  const begun = signal();
  const goOn = signal();
  const handler: Handler = () => (begun.set(), goOn.wait);
  await withWorker(handler, async (_, worker, tag) => {
    const { events } = await client.publishBatch([{ tags: tag }, { tags: tag }, { tags: tag }]);
    await begun.wait;
    const stopped = worker.stop();
    const given = new Map<number, number>();
    while (given.size < 2) { // another worker claims them while the handler still runs
      const turn = await client.next({ worker_id: "other", tags: tag, limit: 2, wait: 20 });
      for (const { id, retry_count } of turn.events) given.set(id, retry_count);
    }
    assert.deepEqual([...given].sort(), events.slice(1).map(({ id }) => [id, 0]));
    goOn.set();
    assert.equal(await stopped, true);
    assert.equal((await client.get(events[0]!.id)).status, "COMPLETED");
  }, { concurrency: 1, prefetch: 3 });
});

void test("the server shows a stopped worker as gone", async () => {
  const workerId = newTag();
  await withWorker(() => {}, async (publish, worker) => {
    assert.equal((await client.wait((await publish()).id, enough)).status, "COMPLETED");
    assert.equal((await client.workers()).find((each) => each.worker_id === workerId)?.state, "active");
    await worker.stop();
    assert.equal((await client.worker(workerId)).state, "gone");
  }, { workerId });
});

void test("stop abandons a handler that does not return and releases its event", async () => {
  const begun = signal();
  let lost: Promise<boolean> | undefined;
  const handler: Handler = (_, signal) => {
    lost = aborted(signal, enough);
    begun.set();
    return new Promise(() => {});
  };
  await withWorker(handler, async (publish, worker) => {
    const { id } = await publish();
    await begun.wait;
    assert.equal(await worker.stop(), false);
    assert.equal(await lost, true);
    assert.deepEqual([(await client.get(id)).status, await actions(id)], ["PENDING", ["RELEASED"]]);
  }, { stopWithin: 0.2 });
});

void test("a lost event goes to no further handler and logs no failure", async () => {
  const begun = signal();
  const ran: string[] = [];
  const logged: string[] = [];
  const [tag, other] = [newTag(), newTag()];
  const first: Handler = async (event, signal) => {
    ran.push(`first ${event.attempt}`);
    if (event.attempt > 1) return;
    begun.set();
    await aborted(signal, enough);
    throw new Error("the first handler was interrupted");
  };
  const second: Handler = (event) => void ran.push(`second ${event.attempt}`);
  const logger = (text: string) => void logged.push(text);
  const worker = new Worker(client, { [tag]: first, [other]: second }, { stopWithin: enough, logger });
  worker.start();
  try {
    const { id } = await client.publish([tag, other]);
    await begun.wait;
    await client.reset(id);
    assert.equal((await client.wait(id, enough)).status, "COMPLETED");
    assert.equal(await worker.stop(), true);
    assert.deepEqual(ran, ["first 1", "first 2", "second 2"]);
    assert.deepEqual(logged.filter((text) => text.includes("interrupted")), []);
  } finally {
    await worker.stop();
  }
});

void test("a publish whose answer is lost is stored once", () =>
  withProxy(async (proxy) => {
    const tag = newTag();
    const over = new Client(proxy.url);
    proxy.answersToLose = 2;
    const { id } = await over.publish(tag, 1);
    const { events } = await over.publishBatch([{ tags: tag }, { tags: tag }]);
    const stored = (await client.list({ tags: tag })).events.map((event) => event.id);
    assert.deepEqual([stored, proxy.answersToLose], [[id, ...events.map((event) => event.id)], 0]);
  }));

void test("a completion whose answer is lost is recorded once", () =>
  withProxy(async (proxy) => {
    const over = new Client(proxy.url);
    const { id, tags } = await client.publish(newTag());
    const [claim] = (await over.next({ tags })).events;
    proxy.answersToLose = 1;
    assert.equal((await over.complete(claim!)).event_id, id);
    assert.deepEqual(await actions(id), ["COMPLETED"]);
  }));

void test("a reset or cancel whose answer is lost is not repeated", () =>
  withProxy(async (proxy) => {
    const over = new Client(proxy.url);
    const { id, tags } = await client.publish(newTag());
    for (const call of ["reset", "cancel"] as const) {
      await client.next({ tags });
      await over.get(id);
      proxy.answersToLose = 1;
      await assert.rejects(over[call](id), (error) => error instanceof UnknownOutcome);
    }
    assert.deepEqual(await actions(id), ["RESET", "CANCELLED"]);
  }));

void test("reports are kept until the gateway accepts them", async () => {
  const answers = [408, 429, 500, 502, 503, 504];
  const answer = (body: TurnBody, path: string): Promise<Answer> | Answer =>
    reports(body).length && answers.length ? [answers.pop()!, "<html>"] : forwarded(body, path);
  await withScriptedServer(answer, (scripted) =>
    withWorker(() => {}, async (publish) => {
      const { status, attempts } = await client.wait((await publish()).id, enough);
      assert.deepEqual([status, attempts, answers], ["COMPLETED", 1, []]);
    }, {}, scripted));
});

void test("only the bad one of reports refused together is dropped", async () => {
  let bad: { id: number; attempt: number } | undefined;
  const answer = (body: TurnBody, path: string): Promise<Answer> | Answer => {
    const sent = reports(body);
    if (sent.length && !bad) {
      if (sent.length < 4) return [503, {}]; // until one call has all four
      bad = sent[1];
    }
    return bad && sent.some(({ id, attempt }) => id === bad!.id && attempt === bad!.attempt) ? [400, { error: "Bad." }] : forwarded(body, path);
  };
  await withScriptedServer(answer, (scripted) =>
    withWorker(() => {}, async (_, __, tag) => {
      const { correlation_id } = await client.publishBatch(Array.from({ length: 4 }, () => ({ tags: tag })));
      const { completed, events } = await client.waitCorrelation(correlation_id, enough);
      assert.equal(completed, 4);
      assert.deepEqual(events.map(({ attempts }) => attempts), events.map(({ id }) => (id === bad!.id ? 2 : 1)));
    }, {}, scripted));
});

void test("a publish without an answer has an unknown outcome", () =>
  withProxy(async (proxy) => {
    proxy.answersToLose = 1;
    await assert.rejects(new Client(proxy.url, { tries: 1 }).publish(newTag()), (error) => error instanceof UnknownOutcome);
  }));

void test("a server that does not listen is unavailable", () =>
  withProxy(async (proxy) => {
    const { url } = proxy;
    proxy.close();
    await assert.rejects(new Client(url, { tries: 2 }).publish(newTag()), (error) => error instanceof Unavailable && error.status === 0);
  }));

void test("a worker loses no event while the server is unreachable", () =>
  withProxy(async (proxy) => {
    const seen = new Set<unknown>();
    const cut = signal();
    const handler: Handler = ({ payload }) => {
      seen.add(payload);
      if (payload !== 5) return;
      proxy.cut();
      cut.set();
    };
    await withWorker(handler, async (publish) => {
      const ids: number[] = [];
      for (let n = 0; n < 20; ++n) ids.push((await publish(n)).id);
      await cut.wait;
      proxy.down = false;
      for (const id of ids) {
        assert.equal((await client.wait(id, enough)).status, "COMPLETED");
        assert.equal((await actions(id)).filter((action) => action === "COMPLETED").length, 1);
      }
      assert.equal(seen.size, 20);
    }, {}, new Client(proxy.url, { timeout: 5 }));
  }));

void test("a stream reconnects after its connection broke", () =>
  withProxy(async (proxy) => {
    const over = new Client(proxy.url);
    const tag = newTag();
    const first = await client.publish(tag, "first");
    let second: QueueEvent | undefined;
    for await (const event of over.stream({ tags: tag, worker_id: tag })) {
      if (event.id !== first.id) {
        assert.deepEqual([event.id, event.payload], [second?.id, "second"]);
        break;
      }
      proxy.cut();
      second = await client.publish(tag, "second");
      proxy.down = false;
      await over.complete(event);
    }
  }));

/** Publishes to a server with these answers. Returns the idempotency keys of the calls, and the result or error. */
async function publishTo(answers: [number, object | string][], tries = 5): Promise<[string[], unknown]> {
  const keys: string[] = [];
  const server = createHttpServer((request, response) => {
    const [status, body] = answers[keys.length]!;
    keys.push(request.headers["idempotency-key"]!);
    request.resume();
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const scripted = new Client(`http://127.0.0.1:${server.address().port}`, { tries });
  const result = await scripted.publish("a").catch((error: unknown) => error);
  server.close();
  return [keys, result];
}

const event: [number, object] = [201, { id: 1, tags: "a" }];
const busy: [number, object] = [503, { type: "urn:eventq:problem:overloaded", outcome: "unchanged" }];
const full: [number, object] = [429, { type: "urn:eventq:problem:queue-full" }];
const unknown: [number, object] = [503, { type: "urn:eventq:problem:outcome-unknown", outcome: "unknown" }];
const diskFull: [number, object] = [507, { type: "urn:eventq:problem:disk-full", outcome: "unchanged" }];

void test("a call to a busy server is repeated with the same key", async () => {
  const [keys, result] = await publishTo([busy, full, event]);
  assert.deepEqual([keys.length, new Set(keys).size, (result as QueueEvent).id], [3, 1, 1]);
});

void test("tries includes the first try", async () => {
  const [keys, result] = await publishTo([busy, busy, full, event], 3);
  assert(result instanceof QueueFull);
  assert.equal(keys.length, 3);
});

void test("an error that a retry would not change is not retried", async () => {
  for (const [answer, made] of [[unknown, UnknownOutcome], [diskFull, Unavailable]] as const) {
    const [keys, result] = await publishTo([answer, event]);
    assert(result instanceof made);
    assert.deepEqual([keys.length, result.problem], [1, answer[1]]);
  }
});

void test("an answer of another server is an error about JSON", async () => {
  const [, result] = await publishTo([[200, "<html>"]], 1);
  assert(result instanceof EventqError && result.message.includes("not JSON"));
});

void test("an invalid URL is refused", async () => {
  for (const url of ["127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://127.0.0.1/path"])
    await assert.rejects((async () => new Client(url))(), (error) => error instanceof TypeError);
});
