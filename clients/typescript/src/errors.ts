// errors.ts: what the server refused, or why there was no answer, as classes.
import type { Problem } from "./types.js";

export class EventqError extends Error {
  /** 0: there was no answer. */
  readonly status: number;
  /** "lease-lost"; docs/api.md lists them. */
  readonly kind: string;
  /** The whole body. */
  readonly problem: Problem;
  /** The member to blame. */
  readonly field: string | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;

  constructor(message: string, status = 0, kind = "", problem: Problem = {}, retryAfter?: number) {
    super(message);
    this.name = new.target.name;
    this.status = status;
    this.kind = kind;
    this.problem = problem;
    this.field = problem.field;
    this.retryAfter = retryAfter;
  }
}

/** The call can never succeed as it was made. */
export class InvalidRequest extends EventqError {}
/** Over a limit of docs/api.md. */
export class TooLarge extends EventqError {}
/** No such event, correlation or queue. */
export class NotFound extends EventqError {}
/** The status of the event or queue, or an earlier call, forbids this now. */
export class Conflict extends EventqError {}
/** The worker does not hold the event, or not as this attempt. */
export class LeaseLost extends Conflict {}
/** The queue is at its maxQueueDepth. */
export class QueueFull extends EventqError {}
/** What was waited for did not happen in time. */
export class TimedOut extends EventqError {}
/** The server cannot be reached, or cannot answer. Nothing was changed. */
export class Unavailable extends EventqError {}
/** Nobody can say whether the change was made. With an event_id or an attempt it is safe to repeat. */
export class UnknownOutcome extends EventqError {}

const kinds: Record<string, typeof EventqError> = {
  "invalid-request": InvalidRequest,
  "too-large": TooLarge,
  "not-found": NotFound,
  conflict: Conflict,
  "lease-lost": LeaseLost,
  "queue-full": QueueFull,
  timeout: TimedOut,
  "store-unavailable": Unavailable,
  overloaded: Unavailable,
  "disk-full": Unavailable,
  "outcome-unknown": UnknownOutcome,
};

export function problemError(status: number, problem: Problem, retryAfter?: string | null): EventqError {
  const kind = (problem.type ?? "").replace(/^.*:/, "");
  const seconds = retryAfter && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const made = kinds[kind] ?? (status === 503 ? Unavailable : EventqError);
  return new made(problem.error ?? `The server answered ${status}.`, status, kind, problem, seconds);
}

/** Whether another try may succeed. A broken connection (0) may have carried the call out: repeating it changes nothing. */
export function isTransient(error: unknown): error is EventqError {
  return error instanceof EventqError && [0, 429, 503].includes(error.status) && error.problem.outcome !== "unknown";
}
