import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";

describe("parley ping", () => {
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  beforeAll(async () => {
    handle = await serveHttp(server, { port: 0 });
  });
  afterAll(() => handle.close());

  it("measures answers of a server at a URL", async () => {
    const { code, stdout, stderr } = await runParley(["ping", handle.url, "-n", "2"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^answered in [\d.]+ ms\nanswered in [\d.]+ ms\n$/);
    expect(stderr).toMatch(/^min [\d.]+, median [\d.]+, max [\d.]+ ms\n$/);
  });

  it("gives one JSON document with --json", async () => {
    const { code, stdout } = await runParley(["ping", handle.url, "-n", "1", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ server: { name: "fixture" }, ms: [expect.any(Number)] });
  });

  it("loads a module of the user, also in TypeScript", async () => {
    const path = new URL("../fixtures/fixture-server.ts", import.meta.url).pathname;
    const { code, stdout } = await runParley(["ping", path, "-n", "1", "--json"]);
    expect(stdout).toContain("fixture");
    expect(code).toBe(0);
  });

  it.each([
    [["ping"], "which server?", 2],
    [["ping", "./no-such.ts"], "the file ./no-such.ts does not exist", 2],
    [["ping", "nobody"], 'no server "nobody"', 2],
    [["ping", "http://127.0.0.1:1/mcp"], "127.0.0.1:1", 3],
    [["ping", "--", "no-such-program"], "no-such-program", 3],
    [["ping", "--timeout", "soon", "--", "no-such-program"], '"soon" is not a duration for --timeout', 2],
    [["ping", "--count", "0", "--", "no-such-program"], "0 is out of range for --count", 2],
    [["pong"], "unknown command 'pong'", 2],
  ])("%j fails with its cause, a fix and its exit code", async (args, cause, expected) => {
    const { code, stderr } = await runParley(args);
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(expected);
  });
});
