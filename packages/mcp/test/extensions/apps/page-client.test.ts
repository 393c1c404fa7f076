import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import type { AppServer } from "@parley/mcp/apps";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { bundlePage } from "./browser-stage.js";
import { windowPair } from "./window-pair.js";

const server: AppServer = {
  async *tools() {
    yield { name: "t", inputSchema: { type: "object" } };
  },
  callTool: async () => ({ content: [{ type: "text", text: "called" }] }),
  readResource: async (uri) => ({ contents: [{ uri, text: "read" }] }),
};

describe("the client of a page", () => {
  it("takes at most 2.5 KB of a page, compressed", async () => {
    const bundle = await bundlePage("our-view.ts");
    const bytes = gzipSync(bundle).length;
    console.log(`the client of a page: ${bundle.length} bytes, ${bytes} compressed`);
    expect(bytes).toBeLessThan(2560);
  });

  it("gives up what waits when it is closed, and hears nothing afterwards", async () => {
    const heard: unknown[] = [];
    const pair = await windowPair(
      { server, mayCallTool: () => new Promise(() => {}) },
      { onInput: (args) => heard.push(args) },
    );
    const call = pair.host.callTool("t");
    pair.host.close();
    await expect(call).rejects.toMatchObject({ name: "HostError", message: "the connection to the host is closed" });
    pair.app.toolInput({});
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard).toEqual([]);
    await pair.app.close();
  });

  it("rejects when the host does not answer in time, and takes its request back", async () => {
    const pair = await windowPair({ server, mayCallTool: () => new Promise(() => {}) }, { timeoutMs: 30 });
    const call = pair.host.callTool("t");
    pair.expire();
    await expect(call).rejects.toThrow("tools/call was not answered within 30 ms");
    // The host has room again, because it was told.
    await expect(pair.host.readResource("r://a")).rejects.toMatchObject({ code: -32601 });
    await pair.app.close();
  });

  it("gives up at once what was given up before it began", async () => {
    const pair = await windowPair({ server, mayCallTool: () => true });
    await expect(pair.host.callTool("t", {}, { signal: AbortSignal.abort() })).rejects.toThrow("was cancelled");
    expect(await pair.host.callTool("t")).toEqual({ content: [{ type: "text", text: "called" }] });
    await pair.app.close();
  });

  it("lists the tools of its server again only after a while", async () => {
    let lists = 0;
    const counting: AppServer = {
      ...server,
      tools() {
        lists += 1;
        return server.tools();
      },
    };
    const pair = await windowPair({ server: counting, mayCallTool: () => true });
    await pair.host.callTool("t");
    await pair.host.callTool("t");
    expect(lists).toBe(1);
    await pair.app.close();
  });

  it("is told of what the host cannot send it", async () => {
    const broken: AppServer = { ...server, callTool: async () => ({ content: [], structuredContent: () => {} }) };
    const warnings: string[] = [];
    const pair = await windowPair({
      server: broken,
      mayCallTool: () => true,
      onWarning: (message) => warnings.push(message),
    });
    await expect(pair.host.callTool("t")).rejects.toMatchObject({ code: -32603, message: "the host failed" });
    expect(warnings).toHaveLength(1);
    await pair.app.close();
  });

  it.each<[string, object]>([
    ["an unknown option", { onClick: () => {} }],
    ["an unknown limit", { limits: { maxBytes: 1 } }],
    ["no time", { requestMs: 0 }],
    ["half a message", { limits: { maxRequests: 0.5 } }],
  ])("is not shown with %s", async (_what, options) => {
    await expect(windowPair(options)).rejects.toMatchObject({ kind: "invalid_definition" });
  });
});

describe("the types for browsers", () => {
  it("fit the elements and windows of a program that has the DOM's", () => {
    const file = resolve(import.meta.dirname, "in-a-browser.ts");
    const source = `
      import { connect, Server } from "@parley/mcp";
      import { type AppPage, showApp } from "@parley/mcp/apps";
      import { connectToHost } from "@parley/mcp/apps-view";
      declare const page: AppPage;
      const typed = new Server({ name: "s", version: "1" }).tool("t", () => "");
      const server = await connect(typed);
      showApp(page, { container: document.body, sandbox: "", hostInfo: { name: "h", version: "1" }, server });
      const div: HTMLDivElement = document.createElement("div");
      showApp(page, { container: div, sandbox: "", hostInfo: { name: "h", version: "1" } });
      await connectToHost({ name: "v", version: "1" }, { window });
    `;
    const root = resolve(import.meta.dirname, "../../..");
    const { config } = ts.readConfigFile(resolve(root, "tsconfig.test.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const lib = [
      "lib.es2023.d.ts",
      "lib.esnext.disposable.d.ts",
      "lib.dom.d.ts",
      "lib.dom.iterable.d.ts",
      "lib.dom.asynciterable.d.ts",
    ];
    const chosen = { ...options, lib, types: [], incremental: false };
    const host = ts.createCompilerHost(chosen);
    const { getSourceFile, fileExists } = host;
    host.fileExists = (path) => path === file || fileExists(path);
    host.getSourceFile = (path, ...rest) =>
      path === file ? ts.createSourceFile(path, source, ts.ScriptTarget.Latest) : getSourceFile(path, ...rest);
    const program = ts.createProgram([file], chosen, host);
    const found = program.getSemanticDiagnostics(program.getSourceFile(file));
    expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
  });
});
