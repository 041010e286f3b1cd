// typescript_worker.ts: a worker in TypeScript. Handles events with the tag "email" until SIGTERM or Ctrl-C.
import process from "node:process";

import { Client } from "eventq";
import { Permanent, Worker } from "eventq/worker";
import type { Handler } from "eventq/worker";

interface Mail {
  to?: string;
}

const sendMail: Handler<Mail | null> = async ({ id, attempt, payload }, signal) => {
  if (payload?.to === undefined) throw new Permanent("The payload has no address in \"to\".");
  signal.throwIfAborted(); // pass the signal to long operations: fetch(url, { signal })
  console.log(`mail to ${payload.to}: event ${id}, attempt ${attempt}`);
  return { sent_to: payload.to }; // the event's result
};

const client = new Client(process.env["EVENTQ_URL"] ?? "http://127.0.0.1:8080");
await new Worker(client, { email: sendMail }, { concurrency: 4 }).run();
