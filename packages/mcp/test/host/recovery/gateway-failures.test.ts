import { type Client, connect } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { afterEach, describe, expect, it } from "vitest";
import { httpServer, QUICK, stdioServer } from "../servers/hosted-servers.js";

const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

async function clientOf(servers: ConstructorParameters<typeof Host>[0]): Promise<{ host: Host; client: Client }> {
  const host = new Host({ restarts: QUICK, startWaitMs: 30_000, circuit: false, ...servers });
  opened.push(host);
  const gateway = host.asServer();
  await host.start();
  const client = await connect(gateway);
  opened.push(client);
  return { host, client: client as unknown as Client };
}

describe("a client of a gateway whose server fails", () => {
  it("hears which server it was, and nothing of how the host runs it", async () => {
    const { client } = await clientOf({ servers: { a: await stdioServer("a") } });
    const error: unknown = await client.callTool("a__die").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ remote: true, message: expect.stringContaining('"a"'), data: { server: "a" } });
    const said = JSON.stringify({ ...(error as object), message: (error as Error).message });
    expect(said).not.toContain(process.execPath);
    expect(said).not.toContain("stderr");
  });

  it("hears nothing of an address that only the host knows", async () => {
    const served = await httpServer("b");
    const { client } = await clientOf({ servers: { b: { url: served.url } } });
    expect(await client.callTool("b__whoami")).toMatchObject({ content: [{ text: "b" }] });
    await served.close();
    const error: unknown = await client.callTool("b__whoami").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ remote: true, data: { server: "b" } });
    expect(JSON.stringify([error, (error as Error).message])).not.toContain("127.0.0.1");
  });

  it("hears nothing of a command while the server is not there", async () => {
    const { host, client } = await clientOf({
      servers: { a: await stdioServer("a") },
      restarts: { intensity: { restarts: 0, withinMs: 60_000 }, retryMs: 60_000 },
    });
    await host.call("a__die").catch(() => {});
    await expect.poll(() => host.status()["a"]?.state, { timeout: 30_000 }).toBe("failed");
    const error: unknown = await client.callTool("a__whoami").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ remote: true, data: { server: "a" } });
    expect(JSON.stringify([error, (error as Error).message])).not.toContain(process.execPath);
    // Whoever runs the host is told.
    expect(host.status()["a"]?.lastError?.message).toContain("code 1");
  });

  it("has a call answered by the next instance that was still waiting for its turn", async () => {
    const { client } = await clientOf({ servers: { a: { ...(await stdioServer("a")), concurrency: 1 } } });
    const deadly = client.callTool("a__die").catch((thrown: unknown) => thrown);
    const waiting = client.callTool("a__whoami");
    expect(await deadly).toMatchObject({ remote: true });
    expect(await waiting).toMatchObject({ content: [{ text: "a" }] });
  });
});
