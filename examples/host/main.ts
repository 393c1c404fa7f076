import { connect, Server } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";

// Three servers as one: of this process, over HTTP, and a program that is not installed.
const clock = new Server({ name: "clock", version: "1.0.0" }).tool(
  "time",
  { description: "The time of day" },
  () => "noon",
);
const bank = new Server({ name: "bank", version: "1.0.0" }).tool(
  "pay",
  { description: "Pays a bill" },
  async (_args, ctx) => {
    const schema = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] } as const;
    const { sure } = await ctx.elicit("Pay 10?", schema);
    return sure ? "paid" : "not paid";
  },
);
const remote = await serveHttp(bank, { port: 0 });

const host = new Host({
  servers: { clock, bank: { url: remote.url }, mail: { command: "no-such-mail-server" } },
  client: { onElicit: () => ({ action: "accept", content: { sure: true } }) },
});
await host.start();

console.log(
  `tools    ${host
    .tools()
    .map(({ name }) => name)
    .join(", ")}`,
);
console.log(`time     ${await host.call("clock__time")}`);
console.log(`bill     ${await host.call("bank__pay")}`);
console.log(`found    ${host.search("bill", { limit: 1 }).map(({ name }) => name)}`);
console.log(`mail     ${host.status()["mail"]?.lastError?.message}`);

// The whole as one server, for a client of an older revision that is asked in its own way.
const client = await connect(host.asServer(), {
  revisions: ["2025-11-25"],
  onElicit: () => ({ action: "accept", content: { sure: false } }),
});
console.log(`gateway  ${await client.call("bank__pay")}`);

await client.close();
await host.close();
await remote.close();
