import { connect, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import type { ClientOptions } from "../../src/client/contract/options.js";
import type { Revision } from "../../src/protocol/revisions.js";
import { until, virtualTime } from "../http-client/virtual-time.js";
import { greetsIn, type Heard, type Pipe, STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const clients: Record<string, readonly Revision[]> = {
  modern: ["2026-07-28"],
  legacy: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"],
  dual: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
};
const expected: Record<string, string> = {
  "modern modern": STATELESS,
  "modern legacy": "unsupported_version",
  "modern dual": STATELESS,
  "legacy modern": "unsupported_version",
  "legacy legacy": STATEFUL,
  "legacy dual": STATEFUL,
  "dual modern": STATELESS,
  "dual legacy": STATEFUL,
  "dual dual": STATELESS,
};

describe("the compatibility matrix on a pipe", () => {
  for (const [pair, outcome] of Object.entries(expected)) {
    const [client = "", server = ""] = pair.split(" ");
    it(`a ${client} client and a ${server} server: ${outcome}`, async () => {
      const served = new Server({ name: "s", version: "1" }, { revisions: clients[server] as Revision[] });
      served.tool("hi", {}, () => "hi");
      const connecting = connect(served, { revisions: clients[client] as Revision[] });
      if (outcome === "unsupported_version") {
        await expect(connecting).rejects.toMatchObject({ kind: outcome, fix: expect.stringContaining("revisions") });
        return;
      }
      const connected = await connecting;
      expect(connected.protocolVersion).toBe(outcome);
      expect(await connected.call("hi" as never)).toBe("hi");
      await connected.close();
    });
  }
});

describe("ERA-06: whatever a legacy server answers to the probe, it is greeted on the same pipe", () => {
  const answers: Record<string, (message: Heard, pipe: Pipe) => void> = {
    ...Object.fromEntries(
      [-32601, -32602, -32600, -32000, -32002, -32603, 0, 1].map((code) => [
        `error ${code}`,
        (message: Heard, pipe: Pipe) => pipe.refuse(message, code),
      ]),
    ),
    "a result of another kind": (message, pipe) => pipe.answer(message, { ok: true }),
    "an empty result": (message, pipe) => pipe.answer(message, {}),
    "a result that is no object": (message, pipe) => pipe.answer(message, "hello"),
    silence: () => {},
    garbage: (_message, pipe) => pipe.say("Traceback (most recent call last):"),
    "an answer with another id": (_message, pipe) => pipe.say({ jsonrpc: "2.0", id: 999, result: {} }),
    "an error without an id": (_message, pipe) => pipe.say({ jsonrpc: "2.0", error: { code: -32600, message: "?" } }),
  };
  for (const [name, answer] of Object.entries(answers)) {
    it(name, async () => {
      const time = virtualTime();
      const server = scriptedPipe((message, pipe) => {
        if (message.method === "server/discover") answer(message, pipe);
        else if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
      });
      const connecting = connect(server, { platform: time.platform });
      await until(() => {
        if (!server.methods().includes("initialize")) time.next(1000);
        return server.methods().includes("notifications/initialized");
      });
      const client = await connecting;
      expect(client.protocolVersion).toBe(STATEFUL);
      expect(server.methods()).toEqual(["server/discover", "initialize", "notifications/initialized"]);
      expect(server.pipes).toHaveLength(1);
      await client.close();
    });
  }

  it("ERA-05, ERA-07: a late answer to the probe after the fallback is ignored, and nobody is greeted twice", async () => {
    const time = virtualTime();
    let late: (() => void) | undefined;
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "server/discover") late = () => pipe.refuse(message, -32601);
      else if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
    });
    const connecting = connect(server, { platform: time.platform });
    await until(() => server.methods().length === 1);
    time.next(1000);
    late?.();
    const client = await connecting;
    await client.ping();
    expect(server.methods().filter((method) => method === "initialize")).toHaveLength(1);
    await client.close();
  });
});

describe("proofs of the newer era", () => {
  it("ERA-04: -32022 that names a shared modern revision is answered by that revision, without initialize", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "initialize") throw new Error("initialize must not be sent");
      pipe.refuse(message, -32022, "unsupported", { supported: ["1900-01-01"], requested: STATELESS });
    });
    await expect(connect(server)).rejects.toMatchObject({ kind: "unsupported_version" });
    expect(server.methods()).toEqual(["server/discover"]);
  });

  it("ERA-04: -32022 that names only legacy revisions leads to the handshake with one of these", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "server/discover")
        pipe.refuse(message, -32022, "unsupported", { supported: ["2025-06-18"], requested: STATELESS });
      else greetsIn("stateful", message, pipe);
    });
    const client = await connect(server);
    expect(client.protocolVersion).toBe("2025-06-18");
    await client.close();
  });

  for (const code of [-32020, -32021]) {
    it(`ERA-04: ${code} is no reason to fall back`, async () => {
      const server = scriptedPipe((message, pipe) => pipe.refuse(message, code));
      await expect(connect(server)).rejects.toMatchObject({ code });
      expect(server.methods()).toEqual(["server/discover"]);
    });
  }
});

describe("the handshake", () => {
  const answering = (protocolVersion: string) =>
    scriptedPipe((message, pipe) => {
      if (message.id === undefined) return;
      const serverInfo = { name: "s", version: "1" };
      if (message.method === "initialize") pipe.answer(message, { protocolVersion, capabilities: {}, serverInfo });
      else pipe.refuse(message, -32601);
    });

  for (const revision of clients["legacy"] ?? []) {
    it(`LIFE-03: takes ${revision} from the server`, async () => {
      const client = await connect(answering(revision));
      expect(client.protocolVersion).toBe(revision);
      await client.close();
    });
  }

  for (const revision of ["1.0.0", STATELESS, "2025-12-31", ""]) {
    it(`LIFE-03: refuses the version "${revision}"`, async () => {
      await expect(connect(answering(revision))).rejects.toMatchObject({ kind: "unsupported_version" });
    });
  }

  it("LIFE-10: a refusal that names a shared revision is answered by that one, once", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "initialize" && message.params?.["protocolVersion"] !== "2025-03-26")
        pipe.refuse(message, -32602, "Unsupported protocol version", { supported: ["2025-03-26"] });
      else greetsIn("stateful", message, pipe);
    });
    const client = await connect(server);
    expect(client.protocolVersion).toBe("2025-03-26");
    await client.close();
  });

  it("a malformed answer to initialize says what is wrong with it", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "initialize") pipe.answer(message, { protocolVersion: STATEFUL });
      else pipe.refuse(message, -32601);
    });
    await expect(connect(server)).rejects.toMatchObject({
      kind: "invalid_response",
      message: expect.stringContaining("capabilities"),
    });
  });

  it("a server that fails in the handshake is not called a server of another version", async () => {
    const server = scriptedPipe((message, pipe) => pipe.refuse(message, -32603, "the database is down"));
    await expect(connect(server)).rejects.toMatchObject({
      kind: "internal_error",
      message: "the database is down",
      fix: expect.any(String),
    });
  });
});

describe("what is known beforehand", () => {
  const era = (name: "stateful" | "stateless") => scriptedPipe((message, pipe) => void greetsIn(name, message, pipe));

  it("ERA-14, prior: a known legacy server is greeted without the question", async () => {
    const server = era("stateful");
    const client = await connect(server, { prior: { revision: "2025-06-18" } });
    expect(server.methods()[0]).toBe("initialize");
    expect(client.protocolVersion).toBe("2025-06-18");
    await client.close();
  });

  it("prior: what client.prior gave makes a stateless connection without any message", async () => {
    const first = await connect(era("stateless"));
    const server = era("stateless");
    const client = await connect(server, { prior: JSON.parse(JSON.stringify(first.prior)) });
    expect(server.methods()).toEqual([]);
    expect(client.serverCapabilities).toEqual(first.serverCapabilities);
    await first.close();
    await client.close();
  });

  it("ERA-01: prior that no longer holds is found out and corrected, in both directions", async () => {
    const upgraded = await connect(era("stateless"), { prior: { revision: STATEFUL } });
    expect(upgraded.protocolVersion).toBe(STATELESS);
    const downgraded = await connect(era("stateful"), { prior: { revision: STATELESS } });
    expect(downgraded.protocolVersion).toBe(STATEFUL);
    await upgraded.close();
    await downgraded.close();
  });

  it("ERA-07: a pipe that the probe ended is opened again and greeted at once", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "server/discover") pipe.end();
      else greetsIn("stateful", message, pipe);
    });
    const client = await connect(server);
    expect(client.protocolVersion).toBe(STATEFUL);
    expect(server.pipes.map((pipe) => pipe.heard[0]?.method)).toEqual(["server/discover", "initialize"]);
    await client.close();
  });

  it("ERA-07: a pipe that ends every time is opened twice, and no more", async () => {
    const server = scriptedPipe((_message, pipe) => pipe.end());
    await expect(connect(server)).rejects.toMatchObject({ kind: "connection_closed" });
    expect(server.pipes).toHaveLength(2);
  });

  it("ERA-08: a client that speaks only the newest revision asks first, and fails with a reason", async () => {
    const server = era("stateful");
    await expect(connect(server, { revisions: [STATELESS] })).rejects.toMatchObject({
      kind: "unsupported_version",
      message: expect.stringContaining("-32601"),
    });
    expect(server.methods()).toEqual(["server/discover"]);
  });
});

describe("an attempt that leads nowhere", () => {
  const silent = () => scriptedPipe(() => {});

  it("ends at the connect deadline, which the error names", async () => {
    const options: ClientOptions = { timeouts: { connectMs: 60 } };
    await expect(connect(silent(), options)).rejects.toMatchObject({
      kind: "timeout",
      message: expect.stringContaining("connect deadline of 60 ms"),
      fix: expect.stringContaining("timeouts.connectMs"),
    });
  });

  it("ends when the caller's signal aborts, also one that was aborted before", async () => {
    const late = new AbortController();
    const connecting = connect(silent(), { signal: late.signal });
    late.abort();
    await expect(connecting).rejects.toMatchObject({ kind: "cancelled" });
    await expect(connect(silent(), { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("says what it cannot connect to", async () => {
    await expect(connect({} as never)).rejects.toMatchObject({ kind: "connect_failed", fix: expect.any(String) });
    await expect(connect("not a url")).rejects.toMatchObject({ kind: "connect_failed", fix: expect.any(String) });
    await expect(connect("ftp://example.com")).rejects.toMatchObject({ kind: "connect_failed" });
  });

  it("1,000 failing connects leave nothing behind", async () => {
    const before = process.getActiveResourcesInfo().length;
    for (let round = 0; round < 1000; round++) {
      const server = scriptedPipe((_message, pipe) => pipe.end());
      await connect(server).catch(() => {});
    }
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
  });
});
