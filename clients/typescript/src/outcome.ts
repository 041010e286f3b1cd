// outcome.ts: from what handlers return and throw to the report on their event.
import { shortDetail } from "./client.js";
import type { ClaimedEvent, Completion, Failure, Release } from "./types.js";

const textBytesMax = 16384;
const errorsMax = 100;
const resultBytesMax = 65536;
const resultLevelsMax = 61; // the server reads 64, and the request has three around a result
const reasonCharactersMax = 1000;
const delaySecondsMax = 31_536_000;

/** Thrown by a handler: the event fails without a retry. */
export class Permanent extends Error {}

/** Thrown by a handler: the worker releases the event with a delay of `seconds`. Counts no failure. */
export class Later extends Error {
  constructor(readonly seconds: number, reason = "") {
    super(reason);
    if (typeof seconds !== "number" || Number.isNaN(seconds)) throw new TypeError("The seconds of Later must be a number.");
    if (seconds < 0) throw new RangeError(`The seconds of Later are ${seconds}; they must be 0 or more.`);
  }
}

/** Returned by a handler: the event is completed with this result, any JSON value, and with these errors. */
export class Done {
  constructor(readonly result?: unknown, readonly errors: readonly string[] = []) {}
}

type Reported<What> = What & { id: number; attempt: number };

export type Report =
  | { kind: "completed"; body: Reported<Completion> }
  | { kind: "failed"; body: Reported<Failure> }
  | { kind: "released"; body: Reported<Release> };

/** What the handlers of one event have returned and thrown so far. */
export class Outcome {
  readonly #id: { id: number; attempt: number };
  readonly #errors: string[] = [];
  readonly #thrown: unknown[] = [];
  #result: unknown;
  #fault: string | undefined; // of what a handler returned

  constructor({ id, attempt }: ClaimedEvent) {
    this.#id = { id, attempt };
  }

  /** A handler returned `value`. If several handlers return results, the last one counts. */
  returned(value: unknown): void {
    const fault = faultOf(value);
    if (fault !== undefined) {
      this.#fault ??= fault;
      return;
    }
    const done = value instanceof Done ? value : Array.isArray(value) ? new Done(undefined, value) : new Done(value);
    this.#errors.push(...done.errors);
    this.#result = done.result ?? this.#result;
  }

  /** A handler threw `error`. */
  threw(error: unknown): void {
    this.#thrown.push(error);
  }

  /** The report on handlers that ran for so long. The worst outcome decides, in this order: permanent, retry, later, done. */
  report(milliseconds: number): Report {
    const timed = { ...this.#id, execution_time_ms: Math.floor(milliseconds) };
    const laters = this.#thrown.filter((error): error is Later => error instanceof Later);
    const failures = this.#thrown.filter((error) => !(error instanceof Later));
    if (failures.length) return { kind: "failed", body: { ...timed, ...this.#failure(failures) } };
    if (laters.length) {
      const delay = Math.min(delaySecondsMax, Math.ceil(Math.max(...laters.map((later) => later.seconds))));
      const reason = line(laters.map((later) => later.message).filter(Boolean).join("; "));
      return { kind: "released", body: { ...this.#id, delay, ...(reason && { reason }) } };
    }
    const { value, fault } = this.#fault === undefined ? checkedResult(this.#result) : { value: undefined, fault: this.#fault };
    // Permanent, because the handler would return the same again.
    if (fault !== undefined) return { kind: "failed", body: { ...timed, error_message: text(fault), permanent: true } };
    const errors = this.#errors.slice(0, errorsMax).map((error) => text(error) || "An error without a message."); // the server refuses an empty text
    return { kind: "completed", body: { ...timed, ...(errors.length && { errors }), ...(value !== undefined && { result: value }) } };
  }

  #failure(failures: unknown[]): Failure {
    const stack = stackOf(failures[failures.length - 1]);
    const permanent = failures.some((error) => error instanceof Permanent);
    const error_message = text([...failures.map(messageOf), ...this.#errors].join("\n"));
    return { error_message, ...(stack && { error_detail: shortDetail(stack) }), ...(permanent && { permanent }) };
  }
}

/** The bytes of the report, about. */
export function sizeOf(report: Report | undefined): number {
  return report ? JSON.stringify(report.body).length : 0;
}

/** What is wrong with the errors that a handler returned. */
function faultOf(returned: unknown): string | undefined {
  if (returned instanceof Done) return areTexts(returned.errors) ? undefined : "The errors of Done must be an array of strings.";
  if (!Array.isArray(returned) || areTexts(returned)) return undefined;
  return (
    "The handler returned an array of other values than strings. " +
    "Return error messages as an array of strings, and an array that is the result as new Done(array)."
  );
}

function areTexts(values: unknown): boolean {
  return Array.isArray(values) && values.every((value) => typeof value === "string");
}

/** The result as JSON has it, because the handler may still change its own; or why the server would refuse it. */
function checkedResult(result: unknown): { value?: unknown; fault?: string } {
  if (result === undefined || result === null) return {};
  let json: string | undefined;
  try {
    json = JSON.stringify(result);
  } catch (error) {
    return { fault: `The result is not JSON: ${messageOf(error)}` };
  }
  if (json === undefined) return { fault: `The result is not JSON: a ${typeof result}` };
  const size = new TextEncoder().encode(json).length;
  if (size > resultBytesMax) return { fault: `The result has ${size} bytes; at most ${resultBytesMax} are allowed.` };
  // JSON.stringify() escapes a surrogate only if it is alone. Escaped backslashes go first: the text "\\ud800" has no surrogate.
  if (/\\ud[89a-f]/.test(json.replaceAll("\\\\", ""))) return { fault: "The result is not JSON: a text in it has a lone surrogate." };
  const levels = levelsOf(json);
  if (levels > resultLevelsMax) return { fault: `The result is nested ${levels} levels deep; at most ${resultLevelsMax} are allowed.` };
  return { value: JSON.parse(json) };
}

/** How deep the arrays and objects of a JSON text are nested. */
function levelsOf(json: string): number {
  let [level, deepest] = [0, 0];
  for (const [bracket] of json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, "").matchAll(/[[\]{}]/g)) {
    level += bracket === "[" || bracket === "{" ? 1 : -1;
    deepest = Math.max(deepest, level);
  }
  return deepest;
}

function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return shown(thrown);
  if (thrown instanceof Permanent) return thrown.message || "Permanent";
  return thrown.message ? `${thrown.name}: ${thrown.message}` : thrown.name;
}

/** The stack trace of an error, and those of its causes. Empty for a value that is no error. */
function stackOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "";
  const described = new Map<unknown, string>(); // an error may be its own cause
  for (let each: unknown = thrown; each != null && !described.has(each); each = each instanceof Error ? each.cause : undefined)
    described.set(each, each instanceof Error ? each.stack || messageOf(each) : shown(each));
  return [...described.values()].join("\nCaused by: ");
}

/** A value that is no error, as its own text, or as JSON if it has none. */
function shown(value: unknown): string {
  try {
    const general: unknown[] = [undefined, Object.prototype.toString, Array.prototype.toString];
    const hasNoText = typeof value === "object" && value !== null && general.includes(value.toString);
    return hasNoText ? JSON.stringify(value) ?? String(value) : String(value);
  } catch {
    return Object.prototype.toString.call(value); // a ring, for example
  }
}

/** Shortens the text to the server's limit, and replaces characters that the server rejects. */
function text(whole: string): string {
  const clean = new TextDecoder().decode(new TextEncoder().encode(whole.replaceAll("\0", "\ufffd"))); // no lone surrogates
  return clean.slice(0, new TextEncoder().encodeInto(clean, new Uint8Array(textBytesMax)).read);
}

function line(whole: string): string {
  return [...text(whole).replace(/[\p{C}\p{Z}]/gu, " ")].slice(0, reasonCharactersMax).join("");
}
