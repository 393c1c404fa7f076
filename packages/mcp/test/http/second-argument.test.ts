import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.js";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";

const INPUT = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const served = () =>
  fetchHandler(
    new Server({ name: "t", version: "1" }).tool("greet", { input: INPUT }, ({ name }) => `Hello ${String(name)}`),
  );

/** As runtimes call a handler: each with something of its own. */
const ARGUMENTS: Record<string, unknown> = {
  nothing: undefined,
  "a worker's bindings": { KV: {}, body: "{}" },
  "Next's route": { params: Promise.resolve({}) },
  "Deno's connection": {
    remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 },
    completed: Promise.resolve(),
  },
  "Bun's server": new (class Server {
    port = 1;
    requestIP() {}
  })(),
};

describe("the handler of web-standard runtimes", () => {
  describe.each(Object.entries(ARGUMENTS))("called with %s as second argument", (_name, context) => {
    it.each(["2026-07-28", "2025-11-25"] as const)("reads the body from the request (%s)", async (revision) => {
      await using handler = served();
      await using client = await connect("http://localhost/mcp", {
        revisions: [revision],
        fetch: (url, init) => handler(new Request(url, init), context),
      });
      expect(await client.call("greet", { name: "Ada" })).toBe("Hello Ada");
    });
  });

  it.each(["2026-07-28", "2025-11-25"] as const)(
    "takes a body that was parsed before by its name (%s)",
    async (revision) => {
      await using handler = served();
      await using client = await connect("http://localhost/mcp", {
        revisions: [revision],
        fetch: async (url, init) => {
          const request = new Request(url, init);
          return handler(request, request.method === "POST" ? { parsedBody: await request.json() } : {});
        },
      });
      expect(await client.call("greet", { name: "Ada" })).toBe("Hello Ada");
    },
  );
});
