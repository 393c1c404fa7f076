import { memoryStorage } from "@parley/mcp/storage";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import { LegacyClient } from "../http/legacy-client.js";
import { gate } from "../http/watched.js";
import { TEST_SECRET } from "../test-secrets.js";
import { type CutStorage, cutStorage } from "./cut-storage.js";

/** One process of a server, with its own way to the storage. */
export interface TestNode {
  readonly storage: CutStorage;
  readonly server: Server;
  readonly handler: ReturnType<typeof fetchHandler>;
}

/** Several processes on one storage, and clients that choose which of them gets a request. */
export function severalNodes(count: number, options: HttpServerOptions = {}) {
  const shared = memoryStorage();
  const held = gate();
  const nodes: TestNode[] = Array.from({ length: count }, () => {
    const storage = cutStorage(shared);
    const server = new Server({ name: "t", version: "1" }, { storage, secret: TEST_SECRET })
      .tool("hello", {}, () => "hello")
      .tool("steps", {}, async (_args, ctx) => {
        ctx.progress(1);
        await held.passed;
        ctx.progress(2);
        return "done";
      })
      .tool("ask", {}, async (_args, ctx) =>
        JSON.stringify(await ctx.elicit("Name?", { type: "object", properties: { name: { type: "string" } } })),
      )
      .resource("mem://a", {}, () => "a");
    return { storage, server, handler: fetchHandler(server, options) };
  });
  const at = (index: number): TestNode => {
    const node = nodes[index];
    if (node === undefined) throw new Error(`there is no node ${index}`);
    return node;
  };
  let next = 0;
  const client = new LegacyClient("http://localhost/mcp", { fetch: (request) => at(next).handler(request) });
  return {
    shared,
    nodes,
    held,
    client,
    /** The node that gets the requests from now on. */
    use(index: number): TestNode {
      next = index;
      return at(index);
    },
    async close() {
      for (const { handler, storage } of nodes) {
        storage.way = "open";
        await handler.close();
      }
    },
  };
}

/** A call of a tool that reports its progress. */
export const WITH_PROGRESS = { progressToken: 1 };
