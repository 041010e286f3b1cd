// types.ts: a program against the types of the package. It has no casts: the compiler checks that wrong uses are errors.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import process from "node:process";
import test from "node:test";

import { Client, EventqError } from "eventq";
import type { NewEvent, Recorded, components } from "eventq";
import { Worker } from "eventq/worker";
import type { Handler } from "eventq/worker";

interface Mail {
  to: string;
}

const client = new Client(process.env["EVENTQ_URL"]);
const tag = `mail-${randomUUID()}`;

/** Says what the server recorded for a report. */
function described(result: Recorded | EventqError): string {
  if (result instanceof EventqError) return result.kind;
  if (!("action" in result)) return `leased until ${result.lease_until}`;
  return result.action === "FAILED" && !result.retry_scheduled ? "failed for good" : result.action;
}

void test("a handler gets the payload with its type", async () => {
  const sent: string[] = [];
  const send: Handler<Mail> = ({ payload }) => void sent.push(payload.to);
  const untyped: Handler = (event) => {
    // @ts-expect-error: a payload without a type must be checked first
    return void event.payload.to;
  };
  // @ts-expect-error: Mail has no such member
  const wrong: Handler<Mail> = ({ payload }) => void payload.from;
  assert(untyped !== wrong);

  const worker = new Worker(client, { [tag]: send });
  worker.start();
  const event = await client.publish<Mail>(tag, { to: "a@example.com" });
  const ended = await client.wait<Mail>(event.id, 30);
  const address: string = ended.payload.to;
  assert.deepEqual([ended.status, address, sent], ["COMPLETED", "a@example.com", ["a@example.com"]]);
  await worker.stop();
});

void test("handlers of one worker have payloads of different types", async () => {
  const mail: Handler<Mail> = ({ payload }) => void payload.to;
  const number: Handler<number> = ({ payload }) => void payload.toFixed();
  const workers = [new Worker<Mail>(client, mail), new Worker(client, { mail, number })];
  new Worker(client, { inline: ({ payload, attempt }) => void (attempt > 1 && typeof payload === "string" && payload.length) });
  // @ts-expect-error: the handler is for another payload
  new Worker<{ mail: number }>(client, { mail });
  assert.equal(workers.length, 2);
});

void test("requests and answers have the types of the OpenAPI document", async () => {
  const event: NewEvent<Mail> = { tags: [tag], payload: { to: "b@example.com" }, retry: { kind: "exponential" } };
  // @ts-expect-error: no such kind of retry
  const wrong: NewEvent = { tags: tag, retry: { kind: "sometimes" } };
  assert(wrong);
  const { events } = await client.publishBatch([event]);
  const settings: components["schemas"]["QueueSettings"] = { maxRetries: 3 };
  const { status } = await client.configure(tag, settings);
  const turn = await client.next({ tags: tag, limit: 1 });
  const reports = turn.events.map(({ id, attempt }) => ({ id, attempt }));
  const { results } = await client.next({ completed: reports, limit: 0 });
  assert.deepEqual([status, turn.events[0]?.id, results.map(described)], ["active", events[0]?.id, ["COMPLETED"]]);
});
