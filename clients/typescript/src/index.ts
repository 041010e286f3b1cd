// index.ts: what the package exports.
export * from "./client.js";
export * from "./errors.js";
export * from "./types.js";
export * from "./worker.js";
