import { pathToFileURL } from "node:url";
import { type Client, connect, McpError } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import type { Change } from "../../src/client/changes/change-queue.js";
import type { SubscriptionTarget } from "../../src/client/changes/subscription-filter.js";
import type { ClientOptions } from "../../src/client/contract/options.js";
import { cuttingFetch } from "../peers/programs/interop-cutting-fetch.mjs";
import type { Feature, Row } from "./matrix.js";
import { peerPath } from "./peer-process.js";

/** Where the peer is. */
export type Place = string | { command: string; args: string[] };

/** What one row works with. */
export interface Stage {
  readonly row: Row;
  readonly client: Client;
  /** One more connection, with options of its own. */
  connect(options?: ClientOptions): Promise<Client>;
}

/** How Parley's client shows that a feature works with a peer; throws when it does not. */
export type Acts = Record<Exclude<Feature, "connect">, (stage: Stage) => Promise<void>>;

/** The answers that every peer may ask for. */
const ANSWERS: ClientOptions = {
  onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
  roots: [{ uri: pathToFileURL(peerPath("programs")).href, name: "programs" }],
  onSample: () => ({ role: "assistant", model: "a model", content: { type: "text", text: "hello there" } }),
};

/** Connects with the row's revision and checks that it is the one spoken. */
export async function connectIn({ revision }: Row, place: Place, options?: ClientOptions): Promise<Client> {
  const client = await connect(place, { ...ANSWERS, revisions: [revision], onWarning: () => {}, ...options });
  expect(client.protocolVersion).toBe(revision);
  return client;
}

let keys = 0;

/** The acts with servers that offer what `interop-offer.mjs` lists. */
export const ACTS: Acts = {
  async list({ client }) {
    const names = (await client.allTools()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["add", "count", "ask", "sample"]));
    expect((await client.allResources()).map(({ uri }) => uri)).toEqual(["note://a"]);
    const { contents } = await client.readResource("note://a");
    expect(contents).toMatchObject([{ uri: "note://a", text: "a note" }]);
  },
  async call({ client }) {
    expect(await client.call("add", { a: 2, b: 3 })).toBe("5");
    const refused = await client.callTool("add", { a: "two" }).catch((error) => error);
    expect(refused instanceof McpError || refused.isError === true).toBe(true);
  },
  async progress({ client }) {
    const heard: number[] = [];
    const { content } = await client.callTool(
      "count",
      { to: 3 },
      { onProgress: ({ progress }) => heard.push(progress) },
    );
    expect(content).toMatchObject([{ text: "done" }]);
    expect(heard).toEqual([1, 2, 3]);
  },
  async elicit({ client }) {
    expect(await client.call("ask")).toBe("hello Ada");
  },
  async sample({ client }) {
    expect(await client.call("sample")).toBe("hello there");
  },
  async cancel({ client }) {
    const key = `key ${process.pid} ${++keys}`;
    const abort = new AbortController();
    const call = client.callTool("wait", { key }, { signal: abort.signal, onProgress: () => abort.abort() });
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    await eventually(async () => (await client.call("cancelled", { key })) === "true", "the server noticed");
  },
  async subscribe({ client }) {
    expect(await hearChange(client, "note://a", "touch")).toMatchObject({ uri: "note://a" });
  },
  async resume({ connect: connectOnce }) {
    const { fetch, seen } = cuttingFetch();
    const client = await connectOnce({ fetch });
    const heard: number[] = [];
    const { content } = await client.callTool(
      "count",
      { to: 5 },
      { onProgress: ({ progress }) => heard.push(progress) },
    );
    expect(content).toMatchObject([{ text: "done" }]);
    expect(heard).toEqual([1, 2, 3, 4, 5]);
    expect(seen.cuts).toBe(1);
    expect(seen.returns).toBeGreaterThan(0);
    await client.close();
  },
  async task({ connect: connectOnce }) {
    const client = await connectOnce({ extensions: [tasks()] });
    expect(await client.call("job")).toBe("hello Ada");
    const handle = await client.startTask("job");
    const seen: string[] = [];
    for await (const { status } of handle) seen.push(status);
    expect(seen[0]).toBe("working");
    expect(seen.at(-1)).toBe("completed");
    expect(await handle.result()).toBe("hello Ada");
    const stuck = await client.startTask("stuck");
    const cancelled = expect(stuck.result()).rejects.toMatchObject({ kind: "cancelled" });
    await stuck.cancel();
    expect(stuck.status).toBe("cancelled");
    await cancelled;
    await client.close();
  },
};

/** Subscribes, calls the tool that makes a change until the change is heard, and gives it. */
export async function hearChange(
  client: Client,
  target: string | SubscriptionTarget,
  tool: string,
): Promise<Change | undefined> {
  const subscription = await client.subscribe(target);
  const heard: Change[] = [];
  const listening = (async () => {
    for await (const change of subscription) heard.push(change);
  })();
  // Older sessions open the stream that carries the news at their leisure, and what is told before that is lost.
  await eventually(async () => {
    await client.callTool(tool);
    return heard.length > 0;
  }, "the change was heard");
  await subscription.close();
  await listening;
  return heard[0];
}

/** Asks until something holds; the bound is generous, because machines are busy. */
export async function eventually(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (let attempt = 0; attempt < 700; attempt++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  throw new Error(`it never came to this: ${what}`);
}
