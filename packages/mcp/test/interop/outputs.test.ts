import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { serveHttp } from "../../src/node/http/serve-http.js";
import type { Revision } from "../../src/protocol/revisions.js";
import { peersInstalled } from "../mounts/peer-packages.js";
import { PEER_CLIENTS } from "./client-rows.js";
import { peerPath } from "./peer-process.js";

const run = promisify(execFile);

interface Tree {
  name: string;
  children: Tree[];
}
const TREE: z.ZodType<Tree> = z.object({
  name: z.string(),
  get children() {
    return z.array(TREE);
  },
});
const LEAF: Tree = { name: "leaf", children: [] };

const WHICH = z.object({ which: z.number() });
const POINT = { type: "object", properties: { x: { type: "number" } }, required: ["x"] } as const;

/** Tools whose outputs are no plain objects by their schema; each gives one of two values. */
function outputsServer(revision: Revision): Server {
  const either = z.union([z.object({ kind: z.literal("a"), n: z.number() }), z.string()]);
  const objects = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("a"), n: z.number() }),
    z.object({ kind: z.literal("b"), s: z.string() }),
  ]);
  const server = new Server({ name: "outputs", version: "1" }, { revisions: [revision] });
  server
    .tool("union", { input: WHICH, output: either }, ({ which }) => (which === 0 ? { kind: "a", n: 1 } : "text"))
    .tool("union_of_objects", { input: WHICH, output: objects }, ({ which }) =>
      which === 0 ? { kind: "a", n: 1 } : { kind: "b", s: "x" },
    )
    .tool("nullable", { input: WHICH, output: z.object({ n: z.number() }).nullable() }, ({ which }) =>
      which === 0 ? { n: 1 } : null,
    )
    .tool("list", { input: WHICH, output: z.array(TREE) }, ({ which }) => (which === 0 ? [] : [LEAF]))
    .tool("recursive", { input: WHICH, output: TREE }, ({ which }) =>
      which === 0 ? LEAF : { name: "root", children: [LEAF] },
    )
    .tool("recursive_or_null", { input: WHICH, output: TREE.nullable() }, ({ which }) => (which === 0 ? LEAF : null))
    .tool(
      "reference",
      { input: WHICH, output: { $ref: "#/$defs/point", $defs: { point: POINT } } as const },
      ({ which }) => ({ x: which }),
    )
    .tool(
      "self",
      { input: WHICH, output: { anyOf: [{ type: "number" }, { type: "array", items: { $ref: "#" } }] } as const },
      ({ which }) => (which === 0 ? 1 : [1, [2]]),
    )
    .tool("object", { input: WHICH, output: z.object({ n: z.number() }) }, ({ which }) => ({ n: which }));
  return server;
}

const rows = PEER_CLIENTS.filter(({ program }) => program !== "inspector").flatMap(({ name, program, transports }) =>
  (transports["Streamable HTTP"] ?? []).map((revision) => ({ name, program, revision })),
);

describe.runIf(peersInstalled)("tools whose outputs are unions, nullable, lists and references", () => {
  it.each(rows)(
    "are listed and called by $name in $revision, with validation (TOOL-11, BASE-38)",
    {
      timeout: 60_000,
    },
    async ({ program, revision }) => {
      const handle = await serveHttp(outputsServer(revision), { port: 0 });
      try {
        const task = JSON.stringify({ place: { url: handle.url }, revision, features: ["outputs"] });
        const { stdout } = await run(process.execPath, [peerPath(program), task], { timeout: 50_000 });
        expect(JSON.parse(stdout)).toEqual({ feature: "outputs" });
      } finally {
        await handle.close();
      }
    },
  );
});
