// index.ts: the exports of the package.
export * from "./client.js";
export * from "./errors.js";
export * from "./types.js";
export * from "./worker.js";
