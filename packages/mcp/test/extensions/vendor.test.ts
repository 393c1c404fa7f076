import { connect, Server } from "@parley/mcp";
import { defineExtension, ExtensionResult, requireExtension } from "@parley/mcp/extension";
import { afterEach, describe, expect, it } from "vitest";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const ID = "com.example/vouchers";

/** What a vendor could publish: calls may be answered with a voucher, which is changed for the result later. */
function vouchers() {
  return defineExtension<{ open(): Promise<number> }>({
    id: ID,
    settings: { currency: "EUR" },
    methods: [
      { method: "com.example/redeem", kind: "request", sender: "client", first: "2026-07-28", nameField: "voucher" },
      { method: "com.example/open", kind: "request", sender: "client", first: "2024-11-05" },
    ],
    resultTypes: ["voucher"],
    listenFilters: ["vouchers"],
    server(server) {
      const kept = new Map<string, object>();
      return {
        handlers: {
          "com.example/open": () => ({ open: kept.size }),
          "com.example/redeem": ({ voucher }, { request }) => {
            requireExtension(request, ID);
            const result = kept.get(String(voucher)) ?? {};
            kept.delete(String(voucher));
            server.publish({
              filter: "vouchers",
              value: String(voucher),
              method: "notifications/com.example/redeemed",
            });
            return result;
          },
        },
        around: {
          async "tools/call"({ request }, next) {
            if (request.clientCapabilities.extensions?.[ID] === undefined) return next();
            const voucher = `v${kept.size + 1}`;
            kept.set(voucher, await next());
            return new ExtensionResult("voucher", { voucher });
          },
        },
        listenValues: { vouchers: (values) => values.filter((value) => value !== "v0") },
      };
    },
    client: (client) => ({
      feature: { open: async () => Number((await client.request("com.example/open"))["open"]) },
      completes: {
        voucher: ({ result: { voucher } }) => client.request("com.example/redeem", { voucher }),
      },
    }),
  });
}

const server = () => new Server({ name: "s", version: "1" }, { extensions: [vouchers()] }).tool("add", () => "three");

describe("an extension of a third party", () => {
  it("EXT-03, EXT-06: is declared, and its result kind is completed by its client", async () => {
    const extension = vouchers();
    const client = await connect(server(), { revisions: ["2026-07-28"], extensions: [extension] });
    cleanups.push(() => client.close());
    expect(client.serverCapabilities.extensions).toEqual({ [ID]: { currency: "EUR" } });
    expect(await client.call("add")).toBe("three");
    expect(await client.extension(extension).open()).toBe(0);
  });

  it("EXT-04: leaves clients without it alone, and refuses their use of its methods", async () => {
    const client = await connect(server(), { revisions: ["2026-07-28"] });
    cleanups.push(() => client.close());
    expect(await client.call("add")).toBe("three");
    await expect(client.request("com.example/redeem", { voucher: "v1" })).rejects.toMatchObject({
      kind: "capability_missing",
      data: { requiredCapabilities: { extensions: { [ID]: {} } } },
    });
    expect(() => client.extension(vouchers())).toThrow(/does not have the extension/);
  });

  it("tells those who listen, of what they may hear of", async () => {
    const client = await connect(server(), { revisions: ["2026-07-28"], extensions: [vouchers()] });
    cleanups.push(() => client.close());
    const heard: [string, unknown][] = [];
    client.on("notification", ({ method, params }) => heard.push([method, params]));
    const notifications = { vouchers: ["v0", "v1"] };
    client.request("subscriptions/listen", { notifications } as never).catch(() => {});
    await expect.poll(() => heard.length).toBe(1);
    expect(heard[0]).toEqual([
      "notifications/subscriptions/acknowledged",
      expect.objectContaining({ notifications: { vouchers: ["v1"] } }),
    ]);
    await client.call("add");
    await expect.poll(() => heard.length).toBe(2);
    expect(heard.slice(1).map(([method]) => method)).toEqual(["notifications/com.example/redeemed"]);
  });

  it("EXT-01: needs an id with a prefix", () => {
    expect(() => defineExtension({ id: "vouchers", settings: {} })).toThrow(/not the id of an extension/);
  });

  it("names the call when it fails to prepare its parameters", async () => {
    const extension = defineExtension({
      id: ID,
      settings: {},
      client: () => ({ outgoing: { "tools/call": () => Promise.reject(new Error("no voucher left")) } }),
    });
    const client = await connect(server(), { extensions: [extension] });
    cleanups.push(() => client.close());
    await expect(client.call("add")).rejects.toMatchObject({
      message: expect.stringContaining("no voucher left"),
      operation: { method: "tools/call", target: "add" },
    });
  });
});
