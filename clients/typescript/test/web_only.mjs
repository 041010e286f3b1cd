// web_only.mjs: publishes with the entry "eventq" where there is no Node: a context with parts of the web platform only, in
// which an import of any module but the package's own fails. EVENTQ_URL names the server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import vm from "node:vm";

const web = { AbortController, TextDecoder, TextEncoder, URL, URLSearchParams, clearTimeout, fetch, performance, setTimeout };
const context = vm.createContext({ ...web });
const modules = new Map();

function load(url) {
  if (!modules.has(url.href)) {
    modules.set(url.href, new vm.SourceTextModule(readFileSync(url, "utf-8"), { context, identifier: url.href }));
  }
  return modules.get(url.href);
}

function imported(specifier, from) {
  assert(specifier.startsWith("./"), `${from.identifier} imports ${specifier}`);
  return load(new URL(specifier, from.identifier));
}

async function entry(name) {
  const root = new URL("./node_modules/eventq/", import.meta.url);
  const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf-8"));
  const module = load(new URL(exports[name].default, root));
  await module.link(imported);
  await module.evaluate();
  return module.namespace;
}

void test("the part that publishes needs no module of Node", async () => {
  const { Client } = await entry(".");
  const client = new Client(process.env["EVENTQ_URL"]);
  const { id } = await client.publish("web", { to: "a@example.com" });
  assert.deepEqual([(await client.get(id)).payload.to, modules.size > 1], ["a@example.com", true]);
});

void test("the context of this test refuses a module of Node", () => assert.rejects(entry("./worker"), /imports node:os/));
