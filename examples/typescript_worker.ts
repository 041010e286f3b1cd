// typescript_worker.ts: a worker in TypeScript. Handles events with the tag "email" until SIGTERM or Ctrl-C.
// In a project of its own the import is from "eventq".
import process from "node:process";

import { Client, Handler, Permanent, Worker } from "../clients/typescript/src/index.js";

const sendMail: Handler = async ({ id, attempt, payload }, signal) => {
  const to = (payload as { to?: string } | null)?.to;
  if (to === undefined) throw new Permanent("The payload does not say whom to write to.");
  signal.throwIfAborted(); // what takes longer is given the signal: fetch(url, { signal })
  console.log(`mail to ${to}: event ${id}, attempt ${attempt}`);
};

const client = new Client(process.env["EVENTQ_URL"] ?? "http://127.0.0.1:8080");
await new Worker(client, { email: sendMail }, { concurrency: 4 }).run();
