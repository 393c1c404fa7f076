// What the clients of the interop matrix do with a server, told once for every SDK.
import assert from "node:assert/strict";
import { cuttingFetch } from "./interop-cutting-fetch.mjs";

export const INFO = { name: "interop", version: "1.0.0" };
export const CAPABILITIES = { elicitation: {}, sampling: {} };
export const ELICITED = { action: "accept", content: { name: "Ada" } };
export const SAMPLED = { role: "assistant", model: "a model", content: { type: "text", text: "hello there" } };

const textOf = (result) => result.content[0]?.text;

/**
 * Tries the features that the first argument names and writes one line of JSON for each. `open(place, { fetch })` connects and
 * gives: `version`, `list()`, `call(name, args, { onProgress, signal })`, `subscribe(uri, heard)`, `tasks()`, `close()`, where `tasks()`
 * gives `run(name)`, which waits for the result of a task, and `cancel(name)`, which begins one, cancels it and gives its status.
 */
export async function runClient(open) {
  const { place, features, revision } = JSON.parse(process.argv[2]);
  const client = await open(place, { revision });
  const tell = (feature, trouble) => console.log(JSON.stringify({ feature, ...(trouble && { trouble }) }));
  for (const feature of features) {
    try {
      await acts[feature]({ client, place, revision, open });
      tell(feature);
    } catch (error) {
      tell(feature, error instanceof Error ? `${error.stack}` : String(error));
    }
  }
  await client.close();
  process.exit(0);
}

/** The transport to a place, made of the classes that both lines of the official SDK have. */
export function transportTo(place, fetch, { StdioClientTransport, SSEClientTransport, StreamableHTTPClientTransport }) {
  if (place.command !== undefined) return new StdioClientTransport(place);
  const url = new URL(place.url);
  if (url.pathname === "/sse") return new SSEClientTransport(url);
  const quick = {
    initialReconnectionDelay: 20,
    maxReconnectionDelay: 200,
    reconnectionDelayGrowFactor: 2,
    maxRetries: 9,
  };
  return new StreamableHTTPClientTransport(url, { fetch, reconnectionOptions: quick });
}

const acts = {
  outputs,
  async connect({ client, revision }) {
    assert.equal(client.version, revision);
  },
  async list({ client }) {
    const names = (await client.list()).map(({ name }) => name);
    for (const name of ["add", "count", "ask", "sample", "wait"]) assert.ok(names.includes(name), `${name} is listed`);
  },
  async call({ client }) {
    assert.equal(textOf(await client.call("add", { a: 2, b: 3 })), "5");
  },
  async progress({ client }) {
    // The official clients lose a report that arrives in one piece with the answer, which a busy machine brings about.
    for (let attempt = 0; attempt < 10; attempt++) {
      const heard = [];
      const result = await client.call("count", { to: 3 }, { onProgress: ({ progress }) => heard.push(progress) });
      assert.equal(textOf(result), "done");
      assert.deepEqual(heard, [1, 2, 3].slice(0, heard.length));
      if (heard.length === 3) return;
    }
    throw new Error("a report was lost every time");
  },
  async elicit({ client }) {
    assert.equal(textOf(await client.call("ask", {})), "hello Ada");
  },
  async sample({ client }) {
    assert.match(textOf(await client.call("sample", {})), /hello there/);
  },
  async cancel({ client }) {
    const key = `key ${process.pid}`;
    const abort = new AbortController();
    const call = client.call("wait", { key }, { signal: abort.signal, onProgress: () => abort.abort("enough") });
    await assert.rejects(call);
    await eventually(async () => textOf(await client.call("cancelled", { key })) === "true");
  },
  async subscribe({ client }) {
    const heard = [];
    await client.subscribe("note://a", (uri) => heard.push(uri));
    await eventually(async () => {
      await client.call("touch", {});
      return heard.length > 0;
    });
    assert.equal(heard[0], "note://a");
  },
  async resume({ place, revision, open }) {
    const { fetch, seen } = cuttingFetch();
    const client = await open(place, { fetch, revision });
    const heard = [];
    const result = await client.call("count", { to: 5 }, { onProgress: ({ progress }) => heard.push(progress) });
    assert.equal(textOf(result), "done");
    assert.deepEqual(heard, [1, 2, 3, 4, 5].slice(0, heard.length));
    assert.ok(heard.length >= 2, "it heard what was said after the cut");
    assert.equal(seen.cuts, 1);
    assert.ok(seen.returns > 0, "it came back");
    await client.close();
  },
  async task({ client }) {
    const { run, cancel } = await client.tasks();
    assert.equal(textOf(await run("job")), "hello Ada");
    assert.equal(await cancel("stuck"), "cancelled");
  },
};

async function outputs({ client, revision }) {
  // Listing makes the validators of both lines, which then check every result.
  for (const { name } of await client.list()) {
    for (const which of [0, 1]) {
      const { content, structuredContent, isError, _meta } = await client.call(name, { which });
      assert.notEqual(isError, true, `${name}: ${content[0]?.text}`);
      const value = JSON.parse(content[0].text);
      if (revision < "2025-06-18") assert.equal(structuredContent, undefined);
      else assert.deepEqual(structuredContent, _meta?.["dev.parley/wrapped"] ? { result: value } : value, name);
    }
  }
}

async function eventually(holds) {
  for (let attempt = 0; attempt < 700; attempt++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  throw new Error("it never came to this");
}
