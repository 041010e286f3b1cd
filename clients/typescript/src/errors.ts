// errors.ts: a class per kind of refusal, and for calls without an answer.
import type { Problem } from "./types.js";

export class EventqError extends Error {
  /** 0: no answer arrived. */
  readonly status: number;
  /** For example "lease-lost"; docs/api.md lists all kinds. */
  readonly kind: string;
  /** The whole body of the answer. */
  readonly problem: Problem;
  /** The member that is wrong. */
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

/** The call is invalid; a retry cannot succeed. */
export class InvalidRequest extends EventqError {}
/** The request exceeds a limit of docs/api.md. */
export class TooLarge extends EventqError {}
/** The event, correlation or queue does not exist. */
export class NotFound extends EventqError {}
/** The status of the event or queue, or an earlier call, forbids this now. */
export class Conflict extends EventqError {}
/** The worker does not hold the event, or not as this attempt. */
export class LeaseLost extends Conflict {}
/** The queue is at its maxQueueDepth. */
export class QueueFull extends EventqError {}
/** The time limit of a wait has passed. */
export class TimedOut extends EventqError {}
/** The server cannot be reached, or cannot answer. The call changed nothing. */
export class Unavailable extends EventqError {}
/** The change may or may not have been made. A call with an event_id or an attempt is safe to repeat. */
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

/**
 * Whether a retry may succeed. After a broken connection (0) the server may have processed the call. A repetition is
 * safe, because calls carry an idempotency key or an attempt.
 */
export function isTransient(error: unknown): error is EventqError {
  return error instanceof EventqError && [0, 429, 503].includes(error.status) && error.problem.outcome !== "unknown";
}
