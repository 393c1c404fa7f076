import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";
import { cuttingFetch } from "../peers/programs/interop-cutting-fetch.mjs";
import { ACTS, type Acts, eventually, hearChange } from "./acts.js";
import { peerPath } from "./peer-process.js";

/** It lets nobody subscribe to a resource, but tells of lists that change. */
const MCP_LITE: Acts = {
  ...ACTS,
  async subscribe({ client }) {
    expect(await hearChange(client, { tools: true }, "grow")).toMatchObject({ kind: "tools" });
  },
};

const LONG = "trigger-long-running-operation";
const DOCUMENT = "demo://resource/dynamic/text/1";

/** It has tools of its own; those that ask appear once the client has said that it can answer. */
const EVERYTHING: Acts = {
  async list({ client }) {
    const names = (await client.allTools()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["echo", "get-sum", LONG]));
    expect((await client.allPrompts()).length).toBeGreaterThan(0);
    expect((await client.allResources()).length).toBeGreaterThan(0);
    expect((await client.readResource(DOCUMENT)).contents).toHaveLength(1);
  },
  async call({ client }) {
    expect(await client.call("get-sum", { a: 2, b: 3 })).toContain("is 5.");
    const { content } = await client.callTool("get-tiny-image");
    expect(content.some(({ type }) => type === "image")).toBe(true);
  },
  async progress({ client }) {
    const heard: number[] = [];
    await client.callTool(LONG, { duration: 0.06, steps: 3 }, { onProgress: ({ progress }) => heard.push(progress) });
    expect(heard).toEqual([1, 2, 3]);
  },
  async elicit({ client }) {
    const tool = "trigger-elicitation-request";
    await eventually(
      async () => (await client.allTools({ cache: false })).some(({ name }) => name === tool),
      "it is there",
    );
    const { content } = await client.callTool(tool);
    expect(JSON.stringify(content)).toContain("Name: Ada");
  },
  async sample({ client }) {
    const tool = "trigger-sampling-request";
    await eventually(
      async () => (await client.allTools({ cache: false })).some(({ name }) => name === tool),
      "it is there",
    );
    const { content } = await client.callTool(tool, { prompt: "Say hello", maxTokens: 10 });
    expect(JSON.stringify(content)).toContain("hello there");
  },
  cancel: ACTS.cancel,
  async subscribe({ client }) {
    // Each second call stops the updates again; every start brings one at once.
    expect(await hearChange(client, DOCUMENT, "toggle-subscriber-updates")).toMatchObject({ uri: DOCUMENT });
  },
  async resume({ connect }) {
    const { fetch, seen } = cuttingFetch();
    const client = await connect({ fetch });
    const { content } = await client.callTool(LONG, { duration: 0.1, steps: 5 }, { onProgress: () => {} });
    expect(JSON.stringify(content)).toContain("completed");
    expect(seen.cuts).toBe(1);
    expect(seen.returns).toBeGreaterThan(0);
    await client.close();
  },
  async task({ connect }) {
    const client = await connect({
      extensions: [tasks()],
      onElicit: () => ({ action: "accept", content: { interpretation: "snake" } }),
    });
    const handle = await client.startTask("simulate-research-query", { topic: "python", ambiguous: true });
    const stuck = await client.startTask("simulate-research-query", { topic: "rust" });
    await stuck.cancel();
    expect(stuck.status).toBe("cancelled");
    const seen = new Set<string>();
    for await (const { status } of handle) seen.add(status);
    expect([...seen]).toEqual(expect.arrayContaining(["working", "completed"]));
    expect(await handle.result()).toContain("python (snake)");
    await client.close();
  },
};

/** It is given no folder on its command line, so it can do nothing before the client has told it its roots. */
const FILESYSTEM: Acts = {
  ...ACTS,
  async list({ client }) {
    const names = (await client.allTools()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["read_text_file", "list_directory"]));
  },
  async call({ client }) {
    const allowed = async () => JSON.stringify((await client.callTool("list_allowed_directories")).content);
    await eventually(async () => (await allowed()).includes("programs"), "it knows the roots");
    const { content } = await client.callTool("list_directory", { path: peerPath("programs") });
    expect(JSON.stringify(content)).toContain("interop-offer.mjs");
  },
};

const BY_PEER: Record<string, Acts> = {
  "mcp-lite": MCP_LITE,
  "server-everything": EVERYTHING,
  "server-filesystem": FILESYSTEM,
};

/** How features are shown with a peer. */
export function actsOf(peer: string): Acts {
  return BY_PEER[peer] ?? ACTS;
}
