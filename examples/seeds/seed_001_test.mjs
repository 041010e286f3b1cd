// seed_001_test.mjs: tests that the front end of seed_001_front_end.mjs works on a notebook.
//
// EVENTQ_URL names a server whose notebooks may be in the current folder. Only this file uses calls that seed 001 does not
// have: it adds the notebook, pauses its queue, and finds the id of a folder.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";

import { FrontEnd, is } from "./seed_001_front_end.mjs";

const server = process.env.EVENTQ_URL;
const folder = `${process.cwd()}/notes`;
const text = (path) => readFileSync(`${folder}/${path}`, "utf8");
const commits = () => execFileSync("git", ["-C", folder, "log", "--all", "--format=%s"], { encoding: "utf8" }).trim();

async function operate(method, path, body) {
  const headers = body && { "Content-Type": "application/json" };
  const response = await fetch(server + path, { method, headers, body: body && JSON.stringify(body) });
  assert.ok(response.ok, `${path}: ${response.status}`);
  return response.json();
}

async function endOf(frontEnd, accepted) {
  assert.ok(is(accepted.status, "pending"), accepted.status);
  const event = await frontEnd.wait(accepted.event_id);
  for (const name of ["id", "status", "error_message", "processed_at"]) assert.ok(name in event, `${name} is missing`);
  return event;
}

async function completed(frontEnd, accepted) {
  const event = await endOf(frontEnd, accepted);
  assert.ok(is(event.status, "completed"), event.status);
  assert.equal(event.error_message, null);
  assert.ok(!Number.isNaN(Date.parse(event.processed_at)));
}

mkdirSync(folder);
// No commit by itself within this test.
await operate("POST", "/notebooks", { name: "notes", path: folder, settings: { git_commit_interval: 3600 } });
const frontEnd = new FrontEnd({ files: `${server}/notebooks/notes/files`, events: `${server}/events`, metrics: `${server}/metrics` });

// A file: created, updated, moved and deleted.
await completed(frontEnd, await frontEnd.create("/notes/foo.md", "hello", "Foo", "The first note"));
assert.equal(text("notes/foo.md"), "hello");
const file = await frontEnd.create("/notes/bar.md", "bar", "Bar", "The second note", true);
assert.equal(file.title, "Bar");
assert.equal(file.description, "The second note");
await completed(frontEnd, await frontEnd.update(file.id, "bar again"));
await completed(frontEnd, await frontEnd.move(file.id, "/notes/bar.md", "/archive/bar.md"));
assert.equal(text("archive/bar.md"), "bar again");
assert.ok(!existsSync(`${folder}/notes/bar.md`));
await completed(frontEnd, await frontEnd.remove(file.id));
assert.ok(!existsSync(`${folder}/archive/bar.md`));

// A folder: its events have one correlation id.
await completed(frontEnd, await frontEnd.create("/notes/deep/one.md", "1", "One", ""));
const folders = await operate("GET", "/notebooks/notes/files?kind=folder");
const notes = folders.files.find((each) => each.path === "notes");
const moved = await frontEnd.move(notes.id, "/notes", "/kept");
assert.ok(is(moved.status, "pending"));
assert.equal(moved.file_count, 2);
let all = await frontEnd.correlated(moved.correlation_id);
for (const event of all.events) await frontEnd.wait(event.id);
all = await frontEnd.correlated(moved.correlation_id);
assert.equal(all.correlation_id, moved.correlation_id);
assert.deepEqual([all.total, all.completed, all.failed], [2, 2, 0]);
for (const event of all.events) {
  assert.ok(is(event.status, "completed"));
  assert.equal(event.error_message, null);
  assert.ok(!Number.isNaN(Date.parse(event.processed_at)));
}
assert.equal(text("kept/deep/one.md"), "1");

// A failure says why. A file cannot be a folder.
const failed = await endOf(frontEnd, await frontEnd.create("/kept/foo.md/below.md", "", "Below", ""));
assert.ok(is(failed.status, "failed"), failed.status);
assert.ok(failed.error_message.length > 0);

// A wait ends with 408, and the event is still pending.
await operate("POST", "/queues/notebook%3Anotes/pause");
const late = await frontEnd.create("/late.md", "late", "Late", "");
await assert.rejects(frontEnd.wait(late.event_id, "0.5"), (error) => error.status === 408);
const pending = await frontEnd.event(late.event_id);
assert.ok(is(pending.status, "pending"));
assert.equal(pending.processed_at, null);
const metrics = await frontEnd.metrics();
assert.deepEqual([metrics.pending, metrics.processing, metrics.failed_24h], [1, 0, 1]);
await operate("POST", "/queues/notebook%3Anotes/resume");
await completed(frontEnd, late);

// All changes are committed on request.
assert.equal(commits(), "");
await frontEnd.commit();
const end = Date.now() + 60_000;
while (commits() === "" && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
assert.match(commits(), /^Batch update: \d+ files$/);
