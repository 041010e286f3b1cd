// types.ts: the shapes of the API. They derive from api.ts, which openapi-typescript generates from api/openapi.json.
import type { components, operations } from "./api.js";

export type { components, operations, paths } from "./api.js";

type Schemas = components["schemas"];

/** An event as the client returns it: with its tags as an array. */
type Shown<Event extends { tags: unknown }> = Omit<Event, "tags"> & { tags: string[] };

type Typed<Event extends { tags: unknown; payload: unknown }, Payload> = Shown<Omit<Event, "payload">> & { payload: Payload };

type Query<Operation extends keyof operations> = NonNullable<operations[Operation]["parameters"]["query"]>;

export type Tags = string | readonly string[];
export type Status = Schemas["Status"];
/** An event's number or its event_id. A string of digits is the number. */
export type EventName = Schemas["EventName"];
/** The body of an error. Each member may be absent, because a proxy may have answered. */
export type Problem = Partial<Schemas["Problem"]>;

// Publish.

/** Optional members of a new event, besides tags and payload. */
export type NewEventMembers = Omit<Schemas["NewEvent"], "title" | "tags" | "payload" | "timestamp" | "run_at"> & {
  title?: string;
  timestamp?: string | Date | null;
  run_at?: string | Date | null;
};

export type NewEvent<Payload = unknown> = NewEventMembers & { tags: Tags; payload?: Payload };

export type BatchOptions = Omit<Schemas["NewBatch"], "events" | "correlated" | "on_complete"> & { on_complete?: NewEvent };

// Events.

/** An event as publish() returns it. */
export type QueueEvent<Payload = unknown> = Typed<Schemas["PublishedEvent"], Payload>;
/** An event as get() and wait() return it. */
export type EventDetails<Payload = unknown> = Typed<Schemas["EventDetails"], Payload>;
/** An event that a worker holds. */
export type ClaimedEvent<Payload = unknown> = Typed<Schemas["Claim"], Payload>;
/** An event in a list: without its payload and other long members, unless `include` names them. */
export type EventSummary = Shown<Schemas["EventSummary"]> & Partial<Omit<EventDetails, keyof Schemas["EventSummary"]>>;

export type Batch = Omit<Schemas["Batch"], "correlation_id" | "events"> & { correlation_id: string; events: QueueEvent[] };
export type Page = Omit<Schemas["Page"], "events"> & { events: EventSummary[] };
export type Correlation = Omit<Schemas["Correlation"], "events"> & { events: Shown<Schemas["CorrelationEvent"]>[] };
/** An audit log entry of an event. */
export type Entry = Schemas["LogEntry"];

// Work.

/** Attempt and worker of a report. The default is taken from the event; needed when `event` is only an id. */
export interface Holder {
  attempt?: number | null;
  worker_id?: string;
}

export type Completion = Omit<Schemas["CompletionItem"], "id" | "attempt">;
export type Failure = Omit<Schemas["FailureItem"], "id" | "attempt">;
export type Release = Omit<Schemas["ReturnItem"], "id" | "attempt">;

/** A final failure: the server recorded it, and no retry follows. */
export type FinalFailure = Omit<Failure, "permanent"> & {
  event_id: EventName;
  worker_id: string;
  action: "FAILED";
  attempt?: number | null;
  retry_scheduled: false;
  next_retry_at: null;
  retry_count: number | undefined;
  max_retries: number | undefined;
};

export type Completed = Schemas["Completed"];
export type Failed = Schemas["Failed"] | FinalFailure;
export type Released = Schemas["Released"];
export type Extended = Schemas["LeaseEnd"];
/** What the server recorded for one report. */
export type Recorded = Completed | Failed | Released | Extended;

export type TurnRequest = Omit<Schemas["Turn"], "tags" | "worker_id"> & { tags?: Tags; worker_id?: string };

export type StreamRequest = Omit<Query<"streamEvents">, "tags" | "worker_id"> & {
  tags?: Tags;
  worker_id?: string;
  /** Aborting it ends the stream. */
  signal?: AbortSignal;
};

// Read and administer.

export type ListRequest = Omit<Query<"listEvents">, "tags"> & { tags?: Tags };
export type Overview = Schemas["Overview"];
export type Why = Schemas["Why"];
export type WorkerState = Schemas["Worker"];
export type FailureGroup = Schemas["FailureGroup"];
export type WorkerLog = Schemas["WorkerLog"];
export type QueueState = Schemas["QueueSummary"];
export type QueueSettings = Schemas["QueueSettings"];
