import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, Server } from "@parley/mcp";
import { nodeHandler } from "@parley/mcp/node";
import { afterEach, expect, it } from "vitest";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server that asks, behind something that treats the POSTs of answers by `refuse`. */
async function asking(refuse: (answers: number, response: Parameters<RequestListener>[1]) => boolean) {
  const server = new Server({ name: "s", version: "1" }).tool("ask", async (_args, ctx) => {
    const reply = await ctx.elicit("Which colour?", { type: "object", properties: { colour: { type: "string" } } });
    return JSON.stringify(reply);
  });
  const handler = nodeHandler(server);
  let answers = 0;
  const http = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      const message = body === "" ? {} : (JSON.parse(body) as { result?: unknown });
      if ("result" in message && refuse(++answers, response)) return;
      handler(Object.assign(request, { body: body === "" ? undefined : message }), response);
    });
  });
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => new Promise((resolve) => http.close(resolve).closeAllConnections()));
  const client = await connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, {
    revisions: ["2025-11-25"],
    onElicit: async () => ({ action: "accept", content: { colour: "red" } }),
  });
  cleanups.push(() => client.close());
  return { client, answers: () => answers };
}

it("posts an answer again that a server could not take yet, or that a broken connection lost", async () => {
  const { client, answers } = await asking((count, response) => {
    if (count === 1) response.writeHead(503, { "retry-after": "0" }).end();
    else if (count === 2) response.destroy();
    return count <= 2;
  });
  expect(await client.call("ask")).toContain("red");
  expect(answers()).toBe(3);
});

it("posts no answer again that the server has refused for good", async () => {
  const { client, answers } = await asking((_count, response) => {
    response.writeHead(400).end();
    return true;
  });
  await expect(client.call("ask", {}, { signal: AbortSignal.timeout(1_000) })).rejects.toThrow();
  expect(answers()).toBe(1);
});
