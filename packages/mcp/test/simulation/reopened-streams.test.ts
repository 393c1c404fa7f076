import { connect } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { impatient } from "../client/impatient.js";
import { STATEFUL } from "../client/scripted-pipe.js";
import { event, json, result, scriptedServer, stream } from "../http-client/scripted-server.js";
import { until, virtualTime } from "../http-client/virtual-time.js";
import { simulate } from "./simulate.js";

// Found by seeds of the simulation: streams that are opened again, or that end while they are.

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const CAPABILITIES = { tools: {}, resources: { subscribe: true } };
const GREETING = {
  protocolVersion: STATEFUL,
  capabilities: CAPABILITIES,
  serverInfo: { name: "s", version: "1" },
};

describe("the GET stream of a session", () => {
  /** Its first stream ends after `said`; further ones stay open, after `refused` was told to those with an event id. */
  async function breaking(said: string, refused = false) {
    let streams = 0;
    let end = () => {};
    const server = await scriptedServer((request, response) => {
      const { message, method, headers } = request;
      if (message?.method === "initialize") {
        return json(response, result(request, GREETING), 200, { "mcp-session-id": "s1" });
      }
      if (method === "GET") {
        if (refused && headers["last-event-id"] !== undefined) return void response.writeHead(400).end();
        stream(response);
        if (streams++ > 0) return;
        if (said !== "") response.write(said);
        end = () => response.destroy();
        return;
      }
      if (message?.id === undefined) return void response.writeHead(202).end();
      json(response, result(request, message.method === "tools/list" ? { tools: [] } : {}));
    });
    open.push(server);
    const client = await connect(server.url, { revisions: [STATEFUL], platform: impatient, cache: { ttlMs: 60_000 } });
    open.push(client);
    const subscription = await client.subscribe("file:///x");
    await until(() => streams === 1);
    const again = async () => {
      end();
      await until(() => streams === 2);
      return subscription[Symbol.asyncIterator]().next();
    };
    const lists = () => server.requests.filter(({ message }) => message?.method === "tools/list").length;
    return { client, again, lists };
  }

  it("tells what may have been missed when it begins anew, because no event had given it a place", async () => {
    const { again, client, lists } = await breaking("");
    for (let time = 0; time < 2; time++) await client.listTools();
    expect(lists()).toBe(1);
    expect((await again()).value).toEqual({ kind: "resource", uri: "file:///x", missed: true });
    // A change of the list may have been missed as well.
    await client.listTools();
    expect(lists()).toBe(2);
  });

  it("tells what may have been missed when its server has forgotten its place", async () => {
    const log = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } };
    const { again } = await breaking(event(log, "e1"), true);
    expect((await again()).value).toEqual({ kind: "resource", uri: "file:///x", missed: true });
  });
});

describe("the stream of an answer", () => {
  it("leaves no timer behind when its client closes while it is opened again", async () => {
    const time = virtualTime();
    let resumed = false;
    const server = await scriptedServer((request, response) => {
      const { message, method, headers } = request;
      if (message?.method === "initialize") {
        return json(response, result(request, GREETING), 200, { "mcp-session-id": "s1" });
      }
      if (method === "GET") {
        // Never answered: the client gives up first.
        if (headers["last-event-id"] !== undefined) resumed = true;
        else response.writeHead(405).end();
        return;
      }
      if (message?.id === undefined) return void response.writeHead(202).end();
      stream(response);
      response.write("id: e1\ndata:\n\n");
      response.end();
    });
    open.push(server);
    const client = await connect(server.url, { revisions: [STATEFUL], platform: time.platform });
    const call = client.callTool("work");
    call.catch(() => {});
    await until(() => {
      if (!resumed) time.next(1_000);
      return resumed;
    });
    await client.close();
    await expect(call).rejects.toMatchObject({ kind: "connection_closed" });
    expect(time.pending()).toBe(0);
  });
});

it.each([12816, 13064])("seed %i keeps every rule", async (seed) => {
  expect((await simulate(seed)).violations).toEqual([]);
});
