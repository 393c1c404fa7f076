import { connect, McpError } from "@parley/mcp";
import type { Revision } from "../../src/protocol/revisions.js";

/** What a page saw of a server, as JSON. */
export interface PageReport {
  version: string;
  tools: string[];
  sum: unknown;
  progress: number[];
  greeting: unknown;
  cancelled: string;
  changed: unknown;
}

/** Connects from the page's origin and uses what the server offers. */
async function visit(url: string, revision: Revision): Promise<PageReport> {
  const client = await connect(url, {
    revisions: [revision],
    onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
  });
  const tools = (await client.allTools()).map(({ name }) => name);
  const sum = await client.call("add", { a: 2, b: 3 });
  const progress: number[] = [];
  await client.callTool("count", { to: 3 }, { onProgress: (report) => progress.push(report.progress) });
  const greeting = await client.call("ask");
  const abort = new AbortController();
  const cancelled = await client
    .callTool("wait", {}, { signal: abort.signal, onProgress: () => abort.abort() })
    .then(() => "answered", kindOf);
  const subscription = await client.subscribe("note://a");
  const first = subscription[Symbol.asyncIterator]().next();
  await client.callTool("touch");
  const changed = (await first).value;
  await client.close();
  return { version: client.protocolVersion, tools, sum, progress, greeting, cancelled, changed };
}

/** Why the page cannot connect; empty when it can. */
async function refusal(url: string): Promise<string> {
  return connect(url, { timeouts: { connectMs: 5000 } }).then(
    (client) => client.close().then(() => ""),
    (error: unknown) => `${kindOf(error)}: ${String(error)}`,
  );
}

function kindOf(error: unknown): string {
  return McpError.is(error) ? error.kind : String(error);
}

Object.assign(globalThis, { visit, refusal });

/** The functions that the page offers to the test. */
export type PageFunctions = { visit: typeof visit; refusal: typeof refusal };
