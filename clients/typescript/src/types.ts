// types.ts: the shapes of the API, as docs/api.md describes them.

export type Tags = string | readonly string[];

export interface Problem {
  error?: string;
  field?: string;
  type?: string;
  outcome?: "unchanged" | "unknown";
  [member: string]: unknown;
}

export interface RetryPolicy {
  kind?: "fixed" | "exponential";
  baseMs?: number;
  capMs?: number;
  jitter?: number;
}

/** Optional members of a new event, besides tags and payload. */
export interface NewEventMembers {
  title?: string;
  description?: string;
  queue?: string;
  priority?: number;
  max_retries?: number;
  event_id?: string;
  correlation_id?: string;
  causation_id?: string;
  trace_id?: string;
  /** W3C Trace Context, handed to the worker as it is. */
  traceparent?: string;
  tracestate?: string;
  /** The person or program that publishes the event. */
  published_by?: string;
  pattern?: string;
  version?: string;
  source?: { type?: string; id?: string; name?: string };
  timestamp?: string | Date;
  ordering_key?: string;
  supersede_key?: string;
  run_at?: string | Date;
  /** Seconds. */
  delay?: number;
  retry?: RetryPolicy;
}

export interface NewEvent extends NewEventMembers {
  tags: Tags;
  payload?: unknown;
}

export type Status =
  | "PENDING"
  | "PROCESSING"
  | "COMPLETED"
  | "COMPLETED_WITH_ERRORS"
  | "FAILED"
  | "SUPERSEDED"
  | "CANCELLED";

/** An event's number or its event_id. A string of digits is the number. */
export type EventName = number | string;

/** An event as the server shows it, with its tags as an array. list() omits payload and description. */
export interface QueueEvent {
  id: number;
  event_id: string;
  title: string;
  tags: string[];
  status: Status;
  queue: string;
  priority: number;
  payload?: unknown;
  attempts: number;
  retry_count: number;
  worker_id: string | null;
  correlation_id: string | null;
  created_at: string;
  updated_at: string;
  traceparent?: string;
  tracestate?: string;
  published_by?: string;
  /** This member and those below are in lists and in get(): null if there is no value. */
  error_message?: string | null;
  processed_at?: string | null;
  finished_at?: string | null;
  pattern?: string | null;
  superseded_by?: number | null;
  [member: string]: unknown;
}

/** An event that a worker holds. */
export interface ClaimedEvent extends QueueEvent {
  attempt: number;
  lease_until: string;
}

/** An audit log entry of an event. `event_id` is its number; of a final failure it is the id as it was reported. */
export interface Entry {
  event_id: EventName;
  worker_id: string | null;
  action: string;
  attempt?: number;
  [member: string]: unknown;
}

export interface WorkerState {
  worker_id: string;
  first_seen: string;
  last_seen: string;
  completed: number;
  failed: number;
  holding: number[];
  stale: boolean;
  [member: string]: unknown;
}

export interface WorkerLog {
  worker_id: string;
  entries: Entry[];
  /** The cursor of the next page; null if no entry follows. */
  next: string | null;
  /** False if a time limit ended the page. */
  complete: boolean;
}

export interface Page {
  events: QueueEvent[];
  total: number;
  total_exact: boolean;
  limit: number;
  offset: number;
  /** Set if a time limit ended the page: continue with it as `after_id`. */
  scanned_to?: number;
}

export interface Correlation {
  correlation_id: string;
  total: number;
  completed: number;
  failed: number;
  pending: number;
  events: QueueEvent[];
}

export interface QueueState {
  id: string;
  status: string;
  depth: number;
  config: Record<string, unknown>;
  counts: Record<Status, number>;
  [member: string]: unknown;
}

/** Attempt and worker of a report. The default is taken from the event; needed when `event` is only an id. */
export interface Holder {
  attempt?: number;
  worker_id?: string;
}

export interface Completion {
  status_code?: number;
  execution_time_ms?: number;
  errors?: readonly string[];
}

export interface Failure {
  status_code?: number;
  execution_time_ms?: number;
  error_message?: string;
  permanent?: boolean;
}

export interface Release {
  /** Seconds. */
  delay?: number;
  reason?: string;
}

export type Reported<What> = What & { id: EventName; attempt?: number };

export interface TurnRequest {
  worker_id?: string;
  tags?: Tags;
  queue?: string;
  limit?: number;
  /** Seconds. */
  wait?: number;
  completed?: readonly Reported<Completion>[];
  failed?: readonly Reported<Failure>[];
  released?: readonly Reported<Release>[];
  /** Each of these leases is extended to one full lease from now. */
  alive?: readonly Reported<object>[];
}

export interface StreamRequest {
  worker_id?: string;
  tags?: Tags;
  queue?: string;
  /** The most events pushed and not yet reported. The default is 1. */
  prefetch?: number;
  /** Aborting it ends the stream. */
  signal?: AbortSignal;
}

export interface ListRequest {
  status?: Status;
  tags?: Tags;
  queue?: string;
  worker_id?: string;
  correlation_id?: string;
  event_id?: string;
  limit?: number;
  offset?: number;
  after_id?: number;
}
