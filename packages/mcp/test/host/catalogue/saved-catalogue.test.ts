import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CatalogueStore, Host } from "@parley/mcp/host";
import { catalogueFile } from "@parley/mcp/node";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { localServer } from "../servers/hosted-servers.js";

const folder = mkdtempSync(join(tmpdir(), "parley-catalogue-"));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: Host[] = [];
afterEach(async () => {
  for (const host of opened.splice(0)) await host.close();
});

function hostWith(catalogue: CatalogueStore, warned: string[] = []): Host {
  const warn = (message: string) => void warned.push(message);
  const host = new Host({ servers: { a: localServer("a") }, catalogue, startWaitMs: 200, platform: { warn } });
  opened.push(host);
  return host;
}

describe("what a host keeps between two runs", () => {
  it("delays the start no longer than servers may", async () => {
    const warned: string[] = [];
    const host = hostWith({ load: () => new Promise(() => {}), save() {} }, warned);
    await host.start();
    await host.ready("a");
    expect(await host.call("a__whoami")).toBe("a");
    expect(warned).toEqual(["`load` of the catalogue failed: it took more than 200 ms"]);
  });

  it("does not keep a host from its end", async () => {
    const warned: string[] = [];
    const host = hostWith({ load: () => undefined, save: () => new Promise(() => {}) }, warned);
    await host.start();
    await host.close();
    expect(warned).toEqual(["`save` of the catalogue failed: it took more than 5000 ms"]);
  });

  it("is saved one text after the other, the newest last", async () => {
    const saved: string[] = [];
    let saving = 0;
    const server = localServer("a");
    const catalogue: CatalogueStore = {
      load: () => undefined,
      async save(text) {
        expect(++saving).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 300));
        saving--;
        saved.push(text);
      },
    };
    const host = new Host({ servers: { a: server }, catalogue });
    opened.push(host);
    await host.start();
    await expect.poll(() => saving).toBe(1);
    server.tool("more", {}, () => "");
    await expect.poll(() => host.tools().length).toBe(2);
    await host.close();
    expect(saved.map((text) => text.includes('"more"'))).toEqual([false, true]);
  });

  it("counts as nothing where it is not what a server could have listed", async () => {
    let text = "";
    const first = hostWith({
      load: () => undefined,
      save: (saved) => {
        text = saved;
      },
    });
    await first.start();
    await first.close();
    const saved = JSON.parse(text) as { servers: { a: { lists: { tools: { inputSchema?: unknown }[] } } } };
    delete saved.servers.a.lists.tools[0]?.inputSchema;
    const host = new Host({
      servers: { a: localServer("a") },
      catalogue: { load: () => JSON.stringify(saved), save() {} },
    });
    opened.push(host);
    const starting = host.start();
    expect(() => host.search("whoami")).not.toThrow();
    await starting;
    expect(host.search("whoami").length).toBe(1);
  });
});

describe("the file of a catalogue", () => {
  it("holds one whole text, whoever saves at the same time, and only its owner reads it", async () => {
    const path = join(folder, "deep", "catalogue.json");
    const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(100_000));
    await Promise.all(texts.map((text) => catalogueFile(path).save(text)));
    expect(texts).toContain(await catalogueFile(path).load());
    expect(readdirSync(join(folder, "deep"))).toEqual(["catalogue.json"]);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("that cannot be written leaves nothing beside it", async () => {
    const path = join(folder, "taken");
    mkdirSync(path);
    writeFileSync(join(path, "file"), "kept");
    await expect(catalogueFile(path).save("text")).rejects.toThrow();
    expect(readdirSync(folder).filter((name) => name.includes("draft"))).toEqual([]);
    expect(readFileSync(join(path, "file"), "utf8")).toBe("kept");
    await expect(catalogueFile(path).load()).rejects.toThrow();
    expect(await catalogueFile(join(folder, "missing")).load()).toBeUndefined();
  });
});
