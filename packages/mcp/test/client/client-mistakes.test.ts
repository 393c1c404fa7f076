import { connect, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const served = () => new Server({ name: "s", version: "1" }).tool("hi", {}, () => "hi");

describe("a log level that does not exist", () => {
  it.each([STATEFUL, STATELESS] as const)("is refused at once in %s, and later calls work", async (revision) => {
    const client = await connect(served(), { revisions: [revision] });
    await expect(client.setLogLevel("warn" as never)).rejects.toMatchObject({
      kind: "misuse",
      message: '"warn" is not a log level; did you mean "warning"?',
      fix: expect.stringContaining("emergency"),
    });
    await expect(client.setLogLevel("" as never)).rejects.toMatchObject({ message: '"" is not a log level' });
    expect(await client.call("hi")).toBe("hi");
    await client.close();
  });

  it("is refused by `connect` before anything is sent", async () => {
    const server = scriptedPipe(() => {});
    await expect(connect(server, { logLevel: "err" as never })).rejects.toMatchObject({
      message: '"err" is not a log level; did you mean "error"?',
    });
    expect(server.pipes).toEqual([]);
  });
});

describe("a mistake of this program", () => {
  it("in `args` is named, and the server is not blamed", async () => {
    await expect(connect({ command: process.execPath, args: "server.js" as never })).rejects.toMatchObject({
      kind: "invalid_definition",
      message: '`args` of the command is "server.js", not a list',
      fix: expect.stringContaining("args: ["),
    });
  });
});

describe("pictures and pages that a server names", () => {
  const hostile = ["javascript:alert(1)", "file:///etc/passwd", "http://example.com/i.png", "https://u:p@example.com/"];
  const icons = (src: string) => [{ src }];

  it.each(hostile)("are left out with a warning: %s", async (src) => {
    const warnings: string[] = [];
    const server = scriptedPipe((message, pipe) => {
      const serverInfo = { name: "s", version: "1", icons: icons(src), websiteUrl: src };
      if (message.method === "server/discover") {
        const meta = { "io.modelcontextprotocol/serverInfo": serverInfo };
        pipe.answer(message, { supportedVersions: [STATELESS], capabilities: { tools: {} }, _meta: meta });
      } else pipe.answer(message, { tools: [{ name: "t", inputSchema: { type: "object" }, icons: icons(src) }] });
    });
    const client = await connect(server, { onWarning: (message) => void warnings.push(message) });
    expect(client.serverInfo).toEqual({ name: "s", version: "1" });
    expect(await client.allTools()).toEqual([{ name: "t", inputSchema: { type: "object" } }]);
    expect(warnings).toEqual([expect.stringContaining("icons")]);
    await client.close();
  });

  it.each(["https://example.com/i.png", "data:image/png;base64,AA==", "http://localhost:1/i.png"])(
    "stay: %s",
    async (src) => {
      const served = new Server({ name: "s", version: "1", icons: icons(src) }).tool(
        "t",
        { icons: icons(src) },
        () => "",
      );
      const client = await connect(served);
      expect(client.serverInfo?.icons).toEqual(icons(src));
      expect((await client.allTools())[0]?.icons).toEqual(icons(src));
      await client.close();
    },
  );
});
