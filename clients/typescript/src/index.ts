// index.ts: the entry "eventq": publish, claim, report and read. It imports no module of Node, so it runs wherever
// fetch() does. The entry "eventq/worker" is worker.ts.
export { Client } from "./client.js";
export type { ClientOptions, Turn } from "./client.js";
export * from "./errors.js";
export * from "./types.js";
