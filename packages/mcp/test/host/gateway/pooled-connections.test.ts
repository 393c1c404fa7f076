import { connect } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { expect, it } from "vitest";
import { eventually } from "../../stdio/processes.js";
import { stdioServer } from "../servers/hosted-servers.js";

it("calls that are made in one turn are shared by the connections of a server", async () => {
  await using host = new Host({
    servers: { a: { ...(await stdioServer("a")), connections: 2, prefix: false } },
    startWaitMs: 30_000,
  });
  const gateway = host.asServer();
  await host.start();
  expect(await eventually(() => host.status()["a"]?.connections === 2)).toBe(true);
  const four = (call: () => Promise<unknown>) => Promise.all([call(), call(), call(), call()]);

  expect(new Set(await four(() => host.call("pid"))).size).toBe(2);
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    await using client = await connect(gateway, { revisions: [revision] });
    const texts = await four(async () => (await client.callTool("pid")).content);
    expect(new Set(texts.map((content) => JSON.stringify(content))).size).toBe(2);
  }
  await gateway.close();
});
