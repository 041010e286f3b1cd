// use_types.ts: a program against the types that openapi-typescript generates from api/openapi.json.
//
// `./dev check` compiles it and does not run it. It has no casts, so a member that api/openapi.json describes in a way
// that TypeScript cannot use is a compile error here. `api.ts` is generated into build/lint, beside a copy of this file.
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];
type Json<R> = R extends { content: { "application/json": infer T } } ? T : never;
type Responses<O> = O extends { responses: infer R } ? R : never;
type Success<O> = Json<Responses<O>[keyof Responses<O> & (200 | 201 | 202)]>;
type Body<O> = O extends { requestBody?: { content: { "application/json": infer T } } } ? T : undefined;

type Answer<T> = { ok: true; body: T } | { ok: false; problem: Schemas["Problem"] };

const server = "http://127.0.0.1:8080";

async function call<P extends keyof paths, M extends keyof paths[P] & string>(
  method: M,
  path: P,
  target: string,
  body?: Body<paths[P][M]>,
): Promise<Answer<Success<paths[P][M]>>> {
  const response = await fetch(server + (target || path), {
    method: method.toUpperCase(),
    headers: { "Content-Type": "application/json", Accept: "application/json, application/problem+json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) return { ok: false, problem: await response.json() };
  return { ok: true, body: await response.json() };
}

function explain(problem: Schemas["Problem"]): string {
  if (problem.type === "urn:eventq:problem:max-retries-exceeded") return "The last failure: " + problem.error;
  const where: string = problem.field === undefined ? "" : " (" + problem.field + ")";
  return problem.status + " " + problem.title + ": " + problem.error + where;
}

async function publish(): Promise<number> {
  const event: Schemas["NewEvent"] = {
    title: "Send a mail",
    tags: ["email", "notification"],
    payload: { to: "user@example.com" },
    retry: { kind: "exponential" },
    published_by: "sign-up",
  };
  const answer = await call("post", "/events", "", event);
  if (!answer.ok) throw new Error(explain(answer.problem));
  if ("events" in answer.body) return answer.body.events.length; // the answer to a CloudEvents batch
  return answer.body.id;
}

async function publishBatch(): Promise<string> {
  const answer = await call("post", "/events/batch", "", {
    events: [{ title: "A report", tags: "reporting" }],
    on_complete: { title: "All reports are written", tags: "done" },
  });
  if (!answer.ok) return explain(answer.problem);
  const ids: number[] = answer.body.events.map((event) => event.id);
  return ids.join(", ") + " " + (answer.body.correlation_id ?? "without a correlation id");
}

async function publishCloudEvents(): Promise<void> {
  const events: Schemas["CloudEvents"] = [
    { specversion: "1.0", id: "1", source: "/shop", type: "order.placed", tags: "order", data: { total: 12 }, region: "eu" },
  ];
  const response = await fetch(server + "/events", {
    method: "POST",
    headers: { "Content-Type": "application/cloudevents-batch+json", Accept: "application/cloudevents-batch+json" },
    body: JSON.stringify(events),
  });
  const published: paths["/events"]["post"]["responses"][201]["content"]["application/cloudevents-batch+json"] =
    await response.json();
  for (const event of published) console.log(event.id, event.type, event.data, event["region"]);
}

async function claim(): Promise<Schemas["Claim"][]> {
  const answer = await call("post", "/events/subscribe", "", { tags: "email", worker_id: "worker-02:8742", wait: 20 });
  if (!answer.ok) return [];
  return "events" in answer.body ? answer.body.events : [answer.body];
}

async function work(claims: Schemas["Claim"][]): Promise<void> {
  const answer = await call("post", "/events/next", "", {
    worker_id: "worker-02:8742",
    tags: ["email"],
    completed: claims.map((event) => ({ id: event.id, attempt: event.attempt, status_code: 200 })),
    failed: [{ id: 999, error_message: "away", permanent: true }],
  });
  if (!answer.ok) throw new Error(explain(answer.problem));
  for (const result of answer.body.results) {
    if ("error" in result) console.log(result.event_id, explain(result));
    else if (!("action" in result)) console.log(result.event_id, "is leased until", result.lease_until);
    else if (result.action === "FAILED") console.log(result.event_id, "is retried at", result.next_retry_at);
    else if (result.action === "COMPLETED") console.log(result.event_id, result.errors?.length ?? 0);
    else console.log(result.event_id, result.reason ?? "released");
  }
  for (const event of answer.body.events) console.log(event.id, event.lease_until, event.traceparent ?? "");
}

async function fail(id: number): Promise<string> {
  const report: Schemas["FailureReport"] = { worker_id: "worker-02:8742", error_message: "away" };
  const answer = await call("post", "/events/{id}/fail", `/events/${id}/fail`, report);
  if (answer.ok) return "The retry is due at " + answer.body.next_retry_at;
  return explain(answer.problem);
}

async function read(id: number): Promise<void> {
  const details = await call("get", "/events/{id}", `/events/${id}?include_logs=true`);
  if (!details.ok) throw new Error(explain(details.problem));
  const lastError: string = details.body.error_message ?? "none";
  console.log(details.body.status, details.body.next_retry_at ?? "not due again", lastError);
  for (const entry of details.body.logs ?? []) console.log(entry.action, entry.worker_id ?? "-", entry.reason ?? "");

  const why = await call("get", "/events/{id}/why", `/events/${id}/why`);
  if (why.ok && why.body.reason === "waiting_for_worker") console.log(why.body.explanation);

  const query: NonNullable<paths["/events"]["get"]["parameters"]["query"]> = { status: "FAILED", limit: 5 };
  const list = await call("get", "/events", `/events?status=${query.status}&limit=${query.limit}`);
  if (list.ok) for (const event of list.body.events) console.log(event.id, event.worker_id ?? "-", event.retry_count);

  const related = await call("get", "/events/correlation/{name}", "/events/correlation/import-7");
  if (related.ok) for (const event of related.body.events) console.log(event.id, event.status);
}

async function administer(): Promise<void> {
  const changed = await call("put", "/queues/{name}", "/queues/mail", { maxQueueDepth: 1000, retry: { jitter: 0.5 } });
  if (changed.ok) console.log(changed.body.status);
  const queue = await call("get", "/queues/{name}", "/queues/mail");
  if (queue.ok) console.log(queue.body.config.maxQueueDepth, queue.body.status);
  const log = await call("get", "/queues/{name}/log", "/queues/mail/log");
  if (log.ok) for (const entry of log.body.entries) console.log(entry.action, entry.by ?? "-", entry.detail["events"]);
  const replay: Schemas["Replay"] = { from: "2026-01-01T00:00:00Z", statuses: ["FAILED"], dry_run: true };
  const replayed = await call("post", "/queues/{name}/replay", "/queues/mail/replay", replay);
  if (replayed.ok) for (const event of replayed.body.events) console.log(event.id, event.replayed_as ?? "-");
  const workers = await call("get", "/workers", "");
  if (workers.ok) for (const worker of workers.body.workers) console.log(worker.worker_id, worker.stale_because ?? "");
  const file: Schemas["NewFile"] = { path: "a.md", content: "hello", metadata: { title: "A", mood: ["good"] } };
  const made = await call("post", "/notebooks/{name}/files", "/notebooks/notes/files", file);
  if (!made.ok) console.log(explain(made.problem));
}

const id = await publish();
console.log(await publishBatch());
await publishCloudEvents();
await work(await claim());
console.log(await fail(id));
await read(id);
await administer();
