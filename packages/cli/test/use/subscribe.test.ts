import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";

describe.each(["2025-11-25", "2026-07-28"])("parley subscribe, in revision %s", (revision) => {
  let version = 0;
  let server: Server;
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  beforeAll(async () => {
    server = new Server({ name: "changing", version: "1" })
      .tool("one", {}, () => "1")
      .resource("note://today", {}, () => `version ${version}`);
    handle = await serveHttp(server, { port: 0 });
  });
  afterAll(() => handle.close());

  const change = () => {
    version++;
    server.resourceUpdated("note://today");
  };
  /** Runs `then` each time that stderr says that the subscription stands. */
  const subscribe = (words: readonly string[], then: () => void, signal?: AbortSignal) =>
    runParley(["subscribe", handle.url, "--revision", revision, ...words], {
      onStderr: (text) => text.includes("waiting for changes") && then(),
      ...(signal === undefined ? {} : { signal }),
    });

  it("prints a change with the new contents, and ends after --count", async () => {
    const { code, stdout } = await subscribe(["note://today", "--count", "1", "--read"], change);
    expect(code).toBe(0);
    expect(stdout).toBe(`changed: note://today\n  version ${version}\n`);
  });

  it("prints a line of JSON for each change", async () => {
    const { stdout } = await subscribe(["note://today", "-n", "1", "--json"], change);
    expect(JSON.parse(stdout)).toEqual({ kind: "resource", uri: "note://today", missed: false });
    expect(stdout.split("\n")).toHaveLength(2);
  });

  it("tells of lists where no resource is named", async () => {
    const { code, stdout } = await subscribe(["--count", "1"], () => {
      server.tool(`more${version++}`, {}, () => "2");
    });
    expect(code).toBe(0);
    expect(stdout).toBe("changed: the list of tools\n");
  });

  it("ends in good order when it is interrupted, unless it was to wait for more", async () => {
    for (const [words, expected] of [
      [["note://today"], 0],
      [["note://today", "--count", "2"], 130],
    ] as const) {
      const interrupt = new AbortController();
      const { code, stdout } = await subscribe(words, () => interrupt.abort(new Error("stop")), interrupt.signal);
      expect(code).toBe(expected);
      expect(stdout).toBe("");
    }
  });
});
