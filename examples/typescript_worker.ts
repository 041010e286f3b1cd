// typescript_worker.ts: a worker in TypeScript. Handles events with the tag "email" until SIGTERM or Ctrl-C.
// In your own project, import from "eventq".
import process from "node:process";

import { Client, Handler, Permanent, Worker } from "../clients/typescript/src/index.js";

const sendMail: Handler = async ({ id, attempt, payload }, signal) => {
  const to = (payload as { to?: string } | null)?.to;
  if (to === undefined) throw new Permanent("The payload has no address in \"to\".");
  signal.throwIfAborted(); // pass the signal to long operations: fetch(url, { signal })
  console.log(`mail to ${to}: event ${id}, attempt ${attempt}`);
};

const client = new Client(process.env["EVENTQ_URL"] ?? "http://127.0.0.1:8080");
await new Worker(client, { email: sendMail }, { concurrency: 4 }).run();
