import { connect, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import type { Revision } from "../../src/protocol/revisions.js";
import { json, result, type Script, scriptedServer } from "../http-client/scripted-server.js";
import { kept } from "./kept-open.js";
import { greetsIn, type Heard, type Pipe, STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const LEGACY: Revision[] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const served = (revisions: Revision[]) =>
  new Server({ name: "s", version: "1" }, { revisions }).tool("hi", {}, () => "hi");
const priorOf = async (revision: Revision) => {
  const client = await connect(served([revision]));
  await client.close();
  return JSON.parse(JSON.stringify(client.prior));
};

describe("ERA-01: what `prior` says wrongly is corrected by the first call", () => {
  it("stateless, but the server in this process has sessions", async () => {
    const client = kept(await connect(served(LEGACY), { prior: await priorOf(STATELESS) }));
    expect(client.protocolVersion).toBe(STATELESS);
    expect(await client.call("hi")).toBe("hi");
    expect(client.protocolVersion).toBe(STATEFUL);
  });

  it("stateless, but the server over HTTP has sessions; calls at the same time share one handshake", async () => {
    const handle = kept(await serveHttp(served(LEGACY), { port: 0 }));
    const client = kept(await connect(handle.url, { prior: await priorOf(STATELESS) }));
    const recovered: string[] = [];
    client.on("session.recovered", ({ protocolVersion }) => recovered.push(protocolVersion));
    expect(await Promise.all(Array.from({ length: 10 }, () => client.call("hi")))).toEqual(Array(10).fill("hi"));
    expect(recovered).toEqual([STATEFUL]);
  });

  it("with sessions, but the server is stateless", async () => {
    const handle = kept(await serveHttp(served([STATELESS]), { port: 0 }));
    const client = kept(await connect(handle.url, { prior: await priorOf(STATEFUL) }));
    expect(await client.call("hi")).toBe("hi");
    expect(client.protocolVersion).toBe(STATELESS);
  });
});

describe("ERA-01, VER-03: a server that changes its revision while a client is connected", () => {
  const greeting = { capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
  /** A server that is first what `before` says, and after `change` what `after` says. */
  async function changing(before: Script, after: Script) {
    let script = before;
    const server = kept(await scriptedServer((request, response) => script(request, response)));
    return {
      server,
      change() {
        script = after;
      },
    };
  }
  const modern: Script = (request, response) => {
    const { method, id } = request.message ?? {};
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "initialize" || request.headers["mcp-protocol-version"] !== STATELESS) {
      const error = { code: -32022, message: "unsupported", data: { supported: [STATELESS], requested: STATEFUL } };
      return json(response, { jsonrpc: "2.0", id, error }, 400);
    }
    if (method === "server/discover")
      return json(response, result(request, { supportedVersions: [STATELESS], ...greeting }));
    json(response, result(request, { content: [{ type: "text", text: "modern" }] }));
  };
  const refusals: Record<string, (id: unknown) => object> = {
    "-32000 and 400": (id) => ({
      jsonrpc: "2.0",
      id,
      error: { code: -32000, message: "Bad Request: Server not initialized" },
    }),
    "-32600 and 400": (id) => ({ jsonrpc: "2.0", id, error: { code: -32600, message: "Missing session ID" } }),
    "a text and 400": () => ({ error: "what?" }),
    "-32022 and 400": (id) => ({
      jsonrpc: "2.0",
      id,
      error: { code: -32022, message: "unsupported", data: { supported: LEGACY, requested: STATELESS } },
    }),
  };
  const legacy =
    (refusal: (id: unknown) => object): Script =>
    (request, response) => {
      const { method, id } = request.message ?? {};
      if (request.method === "DELETE") return void response.writeHead(204).end();
      if (request.method !== "POST") return void response.writeHead(405).end();
      if (method === "initialize")
        return json(response, result(request, { protocolVersion: STATEFUL, ...greeting }), 200, {
          "mcp-session-id": "s",
        });
      if (request.headers["mcp-session-id"] !== "s") return json(response, refusal(id), 400);
      if (id === undefined) return void response.writeHead(202).end();
      json(response, result(request, { content: [{ type: "text", text: "legacy" }] }));
    };

  for (const [name, refusal] of Object.entries(refusals)) {
    it(`to one with sessions, which it says by ${name}`, async () => {
      const { server, change } = await changing(modern, legacy(refusal));
      const client = kept(await connect(server.url));
      expect(await client.call("t" as never)).toBe("modern");
      change();
      expect(await client.call("t" as never)).toBe("legacy");
      expect(client.protocolVersion).toBe(STATEFUL);
    });
  }

  it("to one without, which it says by -32022 that names it", async () => {
    const { server, change } = await changing(legacy(refusals["-32600 and 400"] as never), modern);
    const client = kept(await connect(server.url));
    expect(await client.call("t" as never)).toBe("legacy");
    change();
    expect(await client.call("t" as never)).toBe("modern");
    expect(client.protocolVersion).toBe(STATELESS);
  });

  it("VER-03: on a pipe too, by -32022 alone", async () => {
    let legacyNow = false;
    const server = scriptedPipe((message: Heard, pipe: Pipe) => {
      if (message.id === undefined) return;
      if (!legacyNow && greetsIn("stateless", message, pipe)) return;
      if (legacyNow && message.method === "initialize") return void greetsIn("stateful", message, pipe);
      const meta = (message.params?.["_meta"] ?? {}) as Record<string, unknown>;
      if (legacyNow && meta["io.modelcontextprotocol/protocolVersion"] === STATELESS)
        return pipe.refuse(message, -32022, "unsupported", { supported: ["2025-06-18"], requested: STATELESS });
      pipe.answer(message, { content: [{ type: "text", text: "fine" }] });
    });
    const client = kept(await connect(server));
    expect(await client.call("t" as never)).toBe("fine");
    legacyNow = true;
    expect(await client.call("t" as never)).toBe("fine");
    expect(client.protocolVersion).toBe("2025-06-18");
  });

  it("is asked once when an error only looks like it, and the error is the call's", async () => {
    let probes = 0;
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "server/discover") probes++;
      if (!greetsIn("stateless", message, pipe)) pipe.refuse(message, -32600, "no such luck");
    });
    const client = kept(await connect(server));
    for (let nth = 0; nth < 5; nth++)
      await expect(client.callTool("t")).rejects.toMatchObject({ code: -32600, message: "no such luck" });
    expect(probes).toBe(2);
    expect(client.state).toBe("ready");
  });

  it("-32022 that names no other shared revision changes nothing", async () => {
    let probes = 0;
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "server/discover") probes++;
      if (!greetsIn("stateless", message, pipe))
        pipe.refuse(message, -32022, "no", { supported: ["1900-01-01", STATELESS] });
    });
    const client = kept(await connect(server));
    await expect(client.callTool("t")).rejects.toMatchObject({ kind: "unsupported_version" });
    expect(probes).toBe(1);
  });
});
