import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Client, connect } from "@parley/mcp";
import { Host, type HostEntry, type HostServer } from "@parley/mcp/host";
import { afterEach, describe, expect, it } from "vitest";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";
import { freePort } from "../../free-port.js";
import { peerPath } from "../../interop/peer-process.js";
import { peersInstalled } from "../../mounts/peer-packages.js";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const PATH = peerPath("node_modules/@modelcontextprotocol/server-everything/dist/index.js");

const ways: Record<string, () => Promise<HostServer>> = {
  "as a program": async () => ({ command: process.execPath, args: [PATH, "stdio"] }),
  "over HTTP": async () => {
    const port = await freePort();
    const env = { ...process.env, PORT: String(port) };
    const child = spawn(process.execPath, [PATH, "streamableHttp"], { env, stdio: ["ignore", "ignore", "pipe"] });
    const ended = once(child, "exit");
    closers.push(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    // It says where it listens.
    for await (const chunk of child.stderr) if (String(chunk).includes(String(port))) break;
    return { url: `http://127.0.0.1:${port}/mcp` };
  },
};

async function gateway(entry: HostEntry) {
  const host = new Host({ servers: { everything: entry }, startWaitMs: 120_000 });
  closers.push(() => host.close());
  const front = host.asServer();
  await host.start();
  const open = async (options: Parameters<typeof connect>[1]) => {
    const client = await connect(front, { onWarning: () => {}, ...options });
    closers.push(() => client.close());
    return client as Client;
  };
  return { host, open };
}

const sampled = { role: "assistant", content: { type: "text", text: "an answer" }, model: "m" } as const;

describe.skipIf(!peersInstalled)("server-everything behind a gateway", () => {
  it("lists the same tools over HTTP as a program does", { timeout: 240_000 }, async () => {
    const lists: string[][] = [];
    for (const way of Object.values(ways)) {
      const { open } = await gateway(await way());
      const client = await open({});
      lists.push((await client.allTools()).map(({ name }) => name).sort());
    }
    expect(lists[1]).toEqual(lists[0]);
    expect(lists[1]).toContain("everything__trigger-sampling-request");
  });

  it.each([NEWEST_STATEFUL, NEWEST_STATELESS])("puts its questions over HTTP to a client of %s", async (revision) => {
    const { open } = await gateway(await (ways["over HTTP"] as () => Promise<HostServer>)());
    const client = await open({ revisions: [revision], onSample: () => sampled });
    const result = await client.callTool("everything__trigger-sampling-request" as never, { prompt: "hi" } as never);
    expect(JSON.stringify(result)).toContain("an answer");
  });

  it("is listed once more for the changes that it announces after the handshake", async () => {
    const sent: string[] = [];
    const observe = {
      request({ method }: { method: string }) {
        sent.push(method);
        return undefined;
      },
    };
    const entry = await (ways["as a program"] as () => Promise<HostServer>)();
    const host = new Host({ servers: { everything: entry }, client: { observe }, startWaitMs: 120_000 });
    closers.push(() => host.close());
    await host.start();
    for (let round = 0; round < 3; round++) await host.call("everything__echo", { message: "hi" });
    const count = (method: string) => sent.filter((one) => one === method).length;
    expect(count("tools/list")).toBeGreaterThan(0);
    for (const list of ["tools/list", "prompts/list", "resources/list"]) expect(count(list)).toBeLessThanOrEqual(4);
  });

  it("gets the roots of the one client of a connection outside of a call", async () => {
    const { open } = await gateway({
      ...(await (ways["as a program"] as () => Promise<HostServer>)()),
      isolation: "client",
    });
    const roots = [{ uri: "file:///the/one/folder", name: "folder" }];
    const client = await open({ revisions: [NEWEST_STATEFUL], roots });
    const listed = async () => JSON.stringify(await client.callTool("everything__get-roots-list" as never));
    await expect.poll(listed, { timeout: 60_000 }).toContain("file:///the/one/folder");
  });
});
