import { connect, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";

const make = () =>
  new Server({ name: "s", version: "1" })
    .resource("x://a", { name: "a" }, () => "a")
    .resource("x://b", { name: "b" }, () => "b");

describe("a subscription", () => {
  it("whose caller gave up before it began leaves no rejection behind", async () => {
    const client = await connect(make(), { revisions: ["2026-07-28"] });
    await expect(client.subscribe("x://a", { signal: AbortSignal.abort() })).rejects.toMatchObject({
      kind: "cancelled",
    });
    await client.close();
  });

  it("goes on or is told its end when the server ends a wider one as soon as it began", async () => {
    const server = make();
    let ends = false;
    // Ends every later listen in the same breath in which it is acknowledged.
    const endpoint = server.endpoint();
    const local = {
      types: server.types,
      endpoint: () => ({
        ...endpoint,
        request(...[accepted, exchange]: Parameters<typeof endpoint.request>) {
          const { message } = accepted;
          if (!ends || message.method !== "subscriptions/listen") return endpoint.request(accepted, exchange);
          const id = message.id;
          const _meta = { "io.modelcontextprotocol/subscriptionId": id };
          const notifications = message.params?.["notifications"];
          exchange.send(
            JSON.stringify({
              jsonrpc: "2.0",
              method: "notifications/subscriptions/acknowledged",
              params: { _meta, notifications },
            }),
          );
          return { text: JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", _meta } }) };
        },
      }),
    };
    const client = await connect(local, { revisions: ["2026-07-28"] });
    const first = await client.subscribe("x://a");
    ends = true;
    await client.subscribe("x://b").catch(() => {});
    const next = first[Symbol.asyncIterator]().next();
    server.resourceUpdated("x://a");
    const heard = await next.then(
      ({ done, value }) => (done === true ? "ended" : value.uri),
      () => "ended",
    );
    expect(["x://a", "ended"]).toContain(heard);
    await client.close();
  });
});
