import { describe, expect, it } from "vitest";
import { connect } from "../../client/connect.js";
import { Server } from "../../server/server.js";
import { HostCatalogue } from "../catalogue/host-catalogue.js";
import { Host } from "../host.js";
import { gatewayServer } from "./gateway-server.js";
import { type GatewayBackend, HostSource } from "./host-source.js";

describe("the offers of a host as a source", () => {
  it("end listening to the host when their server closes", async () => {
    let listening = 0;
    const host = {
      catalogue: new HostCatalogue(),
      isolated: [],
      find: () => undefined,
      onChanged() {
        listening++;
        return () => void listening--;
      },
    };
    for (const tools of ["all", "search"] as const) {
      const server = gatewayServer(host, { tools });
      expect(listening).toBe(1);
      await server.close();
      expect(listening).toBe(0);
    }
  });

  it("watch a resource anew at a server that took over the name of another", () => {
    const catalogue = new HostCatalogue();
    const targetOf = () => ({ watch: () => () => {} }) as unknown as GatewayBackend;
    let target = targetOf();
    const host = { catalogue, isolated: [], find: () => target, onChanged: () => () => {} };
    catalogue.add("files");
    const source = new HostSource(host, {});
    const uri = catalogue.names("files")?.uri("file:///a") ?? "";
    const first = source.watchOf(uri);
    expect(first).toBeDefined();
    expect(source.watchOf(uri)).toBe(first);
    target = targetOf();
    expect(source.watchOf(uri)).not.toBe(first);
  });

  it("may be cached as long as the servers say, also where tools are searched", async () => {
    const behind = new Server({ name: "notes", version: "1" }, { cache: { ttlMs: 5_000, scope: "public" } });
    behind.tool("add", {}, () => "added");
    const host = new Host({ servers: { notes: { server: behind } } });
    const gateways = (["all", "search"] as const).map((tools) => host.asServer({ tools }));
    await host.start();
    for (const gateway of gateways) {
      const client = await connect(gateway, { revisions: ["2026-07-28"] });
      expect(await client.request("tools/list", {})).toMatchObject({ ttlMs: 5_000, cacheScope: "public" });
      await client.close();
    }
    await host.close();
  });

  it("leave web addresses of a mounted server that lists none of them to the client", async () => {
    const behind = new Server({ name: "notes", version: "1" }).resource("note://a", {}, () => "a");
    const links = ["https://example.com/", "note://a"];
    behind.tool("links", {}, () => ({
      content: links.map((uri) => ({ type: "resource_link" as const, uri, name: uri })),
    }));
    const host = new Host({ servers: { notes: { server: behind, prefix: false } } });
    const inner = host.asServer();
    await host.start();
    const outer = new Server({ name: "outer", version: "1" }).mount("at", inner);
    const client = await connect(outer);
    const { content } = await client.callTool("at_links", {});
    expect(content).toMatchObject([{ uri: "https://example.com/" }, { uri: "at+note://a" }]);
    await client.close();
    await host.close();
  });
});
