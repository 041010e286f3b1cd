// vectors.ts: runs the cases of clients/vectors.json with the client. EVENTQ_URL names the server, EVENTQ_VECTORS the file.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";
import test from "node:test";

import { Client, EventqError } from "eventq";

type Json = any; // the shape differs from case to case

interface Step {
  call?: string;
  args?: Json;
  http?: string;
  body?: Json;
  expect?: Json;
  save?: Record<string, string>;
  error?: Json;
}

const url = process.env["EVENTQ_URL"]!;
const client = new Client(url, { tries: 1 });
const { cases } = JSON.parse(readFileSync(process.env["EVENTQ_VECTORS"]!, "utf-8")) as {
  cases: { name: string; only?: string[]; steps: Step[] }[];
};

const isObject = (value: Json): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const isOnly = (value: Json, name: string): boolean => isObject(value) && Object.keys(value).join() === name;

/** `value` with ${name} and $repeat replaced. */
function filled(value: Json, saved: Record<string, Json>): Json {
  if (isOnly(value, "$repeat")) return value.$repeat[0].repeat(value.$repeat[1]);
  if (Array.isArray(value)) return value.map((element) => filled(element, saved));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filled(member, saved)]));
  if (typeof value !== "string") return value;
  const whole = /^\$\{(\w+)\}$/.exec(value);
  return whole ? saved[whole[1]!] : value.replace(/\$\{(\w+)\}/g, (_, name: string) => String(saved[name]));
}

/** Describes where `actual` differs from `expected`; undefined if it matches. */
function fault(expected: Json, actual: Json, where = "result"): string | undefined {
  if (expected === "$any") return actual == null ? `${where} is absent` : undefined;
  if (isOnly(expected, "$not")) return fault(expected.$not, actual) ? undefined : `${where} is ${actual}`;
  const bothLists = Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length;
  if (bothLists || (isObject(expected) && isObject(actual))) {
    for (const name of Object.keys(expected)) {
      const wrong = fault(expected[name], actual[name], `${where}/${name}`);
      if (wrong) return wrong;
    }
    return undefined;
  }
  if (expected === (actual ?? null)) return undefined;
  return `${where} is ${JSON.stringify(actual)?.slice(0, 300)}, not ${JSON.stringify(expected).slice(0, 300)}`;
}

function pointed(value: Json, pointer: string): Json {
  return pointer.split("/").slice(1).reduce((inner, name) => inner[name], value);
}

async function bareHttp(request: string, body: Json): Promise<void> {
  const [method, path] = request.split(" ") as [string, string];
  const json = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(url + path, { method, ...json });
  assert(response.ok, `${request} was answered ${response.status}: ${await response.text()}`);
}

async function collected<T>(items: AsyncIterable<T>, take = Infinity): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) if (all.push(item) >= take) break;
  return all;
}

async function taken({ take, within, ...request }: Json): Promise<Json> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), within * 1000);
  return collected(client.stream({ ...request, signal: end.signal }), take).finally(() => clearTimeout(timer));
}

async function turn(args: Json): Promise<Json> {
  const { results, events } = await client.next(args);
  return { events, results: results.map((result) => (result instanceof EventqError ? { error: { kind: result.kind } } : result)) };
}

const calls: Record<string, (args: Json) => Promise<Json>> = {
  publish: ({ tags, payload, ...members }) => client.publish(tags, payload, members),
  publish_batch: ({ events, ...options }) => client.publishBatch(events, options),
  next: turn,
  complete: ({ id, ...how }) => client.complete(id, how),
  fail: ({ id, error_message, ...how }) => client.fail(id, error_message, how),
  release: ({ id, ...how }) => client.release(id, how),
  heartbeat: ({ id, ...how }) => client.heartbeat(id, how),
  wait: ({ id, timeout }) => client.wait(id, timeout),
  get: ({ id }) => client.get(id),
  log: ({ id }) => client.log(id),
  why: ({ id }) => client.why(id),
  list: (args) => client.list(args),
  iterate: (args) => collected(client.iterate(args)),
  correlation: ({ name }) => client.correlation(name),
  cancel: ({ id, reason }) => client.cancel(id, reason),
  reset: ({ id, reason }) => client.reset(id, reason),
  worker: ({ id }) => client.worker(id),
  worker_log: ({ id, ...request }) => client.workerLog(id, request),
  overview: () => client.overview(),
  queue: ({ name }) => client.queue(name),
  configure: ({ name, settings }) => client.configure(name, settings),
  settings: async ({ queue }) => (await client.queue(queue)).config,
  stream: taken,
};

async function runStep(step: Step, saved: Record<string, Json>, where: string): Promise<void> {
  if (step.http) return bareHttp(filled(step.http, saved), filled(step.body, saved));
  const call = calls[step.call!];
  assert(call, `${where} is not a call`);
  let result: Json;
  try {
    result = await call(filled(step.args, saved));
  } catch (error) {
    if (!(error instanceof EventqError)) throw error;
    assert(step.error, `${where}: ${error.name} ${error.status} ${error.message}`);
    const wrong = fault(filled(step.error, saved), error);
    assert(!wrong, `${where}: ${wrong}: ${error.message}`);
    return;
  }
  assert(!step.error, `${where} succeeded`);
  const wrong = "expect" in step ? fault(filled(step.expect, saved), result) : undefined;
  assert(!wrong, `${where}: ${wrong}`);
  for (const [name, pointer] of Object.entries(step.save ?? {})) saved[name] = pointed(result, pointer);
}

for (const { name, only, steps } of cases) {
  if (only && !only.includes("typescript")) continue;
  void test(name, async () => {
    const saved = { unique: randomUUID().replaceAll("-", "") };
    for (const [index, step] of steps.entries()) await runStep(step, saved, `step ${index + 1}, ${step.call ?? step.http}`);
  });
}
