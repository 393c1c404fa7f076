import { describe, expect, it } from "vitest";
import { Server } from "../server.js";

const info = { name: "s", version: "1" };

describe("definitions", () => {
  const uses: [string, (server: Server, _meta: Record<string, unknown>) => unknown][] = [
    ["tool", (server, _meta) => server.tool("t", { _meta }, () => "")],
    ["resource", (server, _meta) => server.resource("a://b", { _meta }, () => "")],
    ["resource template", (server, _meta) => server.resourceTemplate("a://{b}", { _meta }, () => "")],
    ["prompt", (server, _meta) => server.prompt("p", { _meta }, () => "")],
  ];

  it.each(uses)("of a %s have no malformed or reserved keys in _meta (BASE-28, BASE-29)", (what, use) => {
    for (const key of ["1bad./x", "a b", "-x", "com..example/x"])
      expect(() => use(new Server(info), { [key]: 1 }), key).toThrow(`in \`_meta\` of ${what}`);
    for (const key of ["io.modelcontextprotocol/x", "dev.mcp/y", "com.mcp.tools/z"])
      expect(() => use(new Server(info), { [key]: 1 }), key).toThrow("has a prefix that the protocol reserves");
    const extensions = [{ id: "io.modelcontextprotocol/ui", settings: {} }];
    use(new Server(info, { extensions }), { "io.modelcontextprotocol/x": 1 });
    use(new Server(info), { "com.example.mcp/x": 1, plain: 2, "ui/resourceUri": 3 });
  });

  it("of resources have annotations that clients can read (BASE-45)", () => {
    const add = (annotations: object) => () => {
      new Server(info).resource("a://b", { annotations }, () => "");
      new Server(info).resourceTemplate("a://{b}", { annotations }, () => "");
    };
    for (const [annotations, message] of [
      [{ priority: 5 }, "`priority` must be a number from 0 to 1"],
      [{ priority: "high" }, "`priority`"],
      [{ audience: ["robot"] }, "`audience` must list"],
      [{ audience: "user" }, "`audience` must list"],
      [{ lastModified: "yesterday" }, "`lastModified` must be an ISO 8601 time"],
      [{ lastModified: 5 }, "`lastModified`"],
      [{ prio: 1 }, '"prio" is not an option of `annotations` of resource "a://b"'],
    ] as const)
      expect(add(annotations)).toThrow(message);
    expect(add({ priority: 0.5, audience: ["user"], lastModified: "2026-07-28T10:00:00Z" })).not.toThrow();
    expect(add({})).not.toThrow();
  });
});
