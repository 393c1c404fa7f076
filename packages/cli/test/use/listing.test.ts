import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { skill, skills } from "@parley/mcp/skills";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { server as fixture } from "../fixtures/fixture-server.js";
import { type RunOptions, runParley } from "../kit/run-parley.js";

describe("commands that show what a server has", () => {
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  let folder: string;
  beforeAll(async () => {
    handle = await serveHttp(fixture, { port: 0 });
    folder = mkdtempSync(join(tmpdir(), "parley-list-"));
  });
  afterAll(async () => {
    await handle.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const run = ([command = "", ...words]: readonly string[], options: RunOptions = {}) =>
    runParley([command, handle.url, ...words], { cwd: folder, ...options });

  it("lists every kind that the server declares, in a table", async () => {
    const { code, stdout } = await run(["list"]);
    expect(code).toBe(0);
    expect(stdout).toContain("tools (7)\n  add      a, b   Adds two numbers\n  echo     text   Gives the text back\n");
    expect(stdout).toContain("resources (1)\n  note://today  today  What is to be done\n");
    expect(stdout).toContain("templates (1)\n  note://{day}  note  The note of a day\n");
    expect(stdout).toContain("prompts (1)\n  review  language  Reviews code\n");
  });

  it("lists one kind alone, also by its singular, and nothing else", async () => {
    expect((await run(["list", "prompt"])).stdout).toBe("prompts (1)\n  review  language  Reviews code\n");
    const { stdout } = await run(["list", "tools", "--json"]);
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual(["tools"]);
  });

  it("shows schemas with --long", async () => {
    const { stdout } = await run(["list", "tools", "--long"]);
    expect(stdout).toContain("    hints: readOnlyHint=true\n");
    expect(stdout).toContain('            "description": "the first"');
    expect(stdout).toContain("    output:\n");
  });

  it("keeps a table within the columns of a terminal", async () => {
    const { stdout } = await run(["list", "tools"], { tty: true, columns: 24, env: { NO_COLOR: "1" } });
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBe(24);
    expect(stdout).toContain("Adds …");
  });

  it("lists skills where the server has some", async () => {
    const notes = skill({ name: "notes", description: "Writes notes. And more.", body: "Write." });
    const server = new Server({ name: "s", version: "1" }, { extensions: [skills(notes)] });
    const served = await serveHttp(server, { port: 0 });
    const { stdout } = await runParley(["list", served.url, "skills"]);
    await served.close();
    expect(stdout).toContain("notes");
    expect(stdout).toContain("Writes notes.");
  });

  it("prints text of a resource, and exact bytes with --raw", async () => {
    expect((await run(["read", "note://today"])).stdout).toBe("bake bread\n");
    expect((await run(["read", "note://today", "--raw"])).stdout).toBe("bake bread");
    const { stdout } = await run(["read", "note://today", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ contents: [{ uri: "note://today", text: "bake bread" }] });
  });

  it("saves a resource to the file of --output", async () => {
    const { stdout } = await run(["read", "note://today", "-o", "today.md"]);
    expect(stdout).toBe("saved: today.md (text/plain, 10 bytes)\n");
    expect(readFileSync(join(folder, "today.md"), "utf8")).toBe("bake bread");
  });

  it("saves bytes of a resource, named for its address", async () => {
    const server = new Server({ name: "s", version: "1" }).resource(
      "x://a/../logo.png",
      { mimeType: "image/png" },
      () => Buffer.from("PNG"),
    );
    const served = await serveHttp(server, { port: 0 });
    const { stdout } = await runParley(["read", served.url, "x://a/../logo.png"], { cwd: folder });
    await served.close();
    expect(stdout).toBe("saved: logo.png (image/png, 3 bytes)\n");
  });

  it.each<[readonly string[], RunOptions, number, string]>([
    [["read", "note://today", "--raw"], { tty: true }, 2, "--raw would let the server write to your terminal"],
    [["read", "note://today", "--raw", "--json"], {}, 2, "cannot be combined"],
    [["read"], {}, 2, "which resource?"],
    [["read", "note://a", "note://b"], {}, 2, "unexpected argument"],
    [["read", "nothing://here"], {}, 1, "nothing://here"],
    [["list", "toolz"], {}, 2, 'unknown kind "toolz"'],
    [["prompt", "reviw"], {}, 1, "Did you mean review?"],
    [["prompt", "review"], {}, 2, "language: string"],
    [["complete", "review"], {}, 2, "which argument?"],
    [["search"], {}, 2, "which tools?"],
    [["search", "add", "--limit", "0"], {}, 2, "at least 1"],
    [["search", "add", "--detail", "all"], {}, 2, "Allowed choices are name, summary, full"],
    [["search", "xylophone"], {}, 1, "None of the 7 tools"],
  ])("%j with %j ends with %i and says why", async (words, options, expected, said) => {
    const { code, stdout, stderr } = await run(words, options);
    expect(`${stdout}${stderr}`).toContain(said);
    expect(code).toBe(expected);
  });

  it("shows the messages of a prompt by who speaks", async () => {
    const { stdout, stderr } = await run(["prompt", "review", "language=go"]);
    expect(stdout).toBe("user:\nReview this go.\n");
    expect(stderr).toBe("Reviews code\n");
  });

  it("suggests values for arguments of prompts and variables of templates", async () => {
    expect((await run(["complete", "note://{day}", "day", "mon"])).stdout).toBe("monday\n");
    const { stdout } = await run(["complete", "review", "language", "ty", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ values: ["typescript"] });
  });

  it("finds tools by words", async () => {
    expect((await run(["search", "two", "numbers", "--limit", "1"])).stdout).toBe("add  a, b  Adds two numbers\n");
    expect((await run(["search", "numbers", "--detail", "name"])).stdout).toBe("add\n");
    const { stdout } = await run(["search", "numbers", "--detail", "full", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ tools: [{ tool: { name: "add", inputSchema: {} } }], searched: 7 });
  });

  it("tells who the server is", async () => {
    const { stdout } = await run(["info"]);
    expect(stdout).toMatch(/^server +A fixture \(fixture\)$/m);
    expect(stdout).toMatch(/^revision +2026-07-28 \(stateless\)$/m);
    expect(stdout).toMatch(/^instructions\n {2}Add numbers with `add`\.$/m);
    const old = await run(["info", "--revision", "2025-06-18", "--json"]);
    expect(JSON.parse(old.stdout)).toMatchObject({
      server: { name: "fixture", version: "1.2.3" },
      protocolVersion: "2025-06-18",
      era: "stateful",
      session: true,
      latencyMs: expect.any(Number),
    });
  });
});
