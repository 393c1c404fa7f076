import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { server as fixture } from "../fixtures/fixture-server.js";
import { type RunOptions, runParley } from "../kit/run-parley.js";
import { askingServer, type Noticed } from "./asking-server.js";

describe("parley call", () => {
  const noticed: Noticed = { cancelled: 0 };
  let handles: Awaited<ReturnType<typeof serveHttp>>[];
  let folder: string;
  beforeAll(async () => {
    handles = [await serveHttp(fixture, { port: 0 }), await serveHttp(askingServer(noticed), { port: 0 })];
  });
  afterAll(() => Promise.all(handles.map((handle) => handle.close())));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-call-"));
    return () => rmSync(folder, { recursive: true, force: true });
  });

  const call = (words: readonly string[], options: RunOptions = {}) =>
    runParley(["call", handles[0]?.url ?? "", ...words], { cwd: folder, ...options });
  const order = (words: readonly string[], options: RunOptions = {}) =>
    runParley(["call", handles[1]?.url ?? "", "order", ...words], { cwd: folder, ...options });

  it("shows structured content once, as JSON", async () => {
    expect(await call(["add", "a=1", "b=2"])).toEqual({ code: 0, stdout: '{\n  "sum": 3\n}\n', stderr: "" });
  });

  it("gives the whole result to programs", async () => {
    const { code, stdout } = await call(["add", "a=1", "b=2", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { sum: 3 }, content: [{ type: "text" }] });
  });

  it.each<[string, readonly string[], object]>([
    ["numbers and booleans by the schema", ["count=3", "gift=true"], { count: 3, gift: true }],
    ["text that looks like a number as the schema wants it", ["item=42"], { item: "42" }],
    ["repeated names as a list", ["tags=a", "tags=b"], { tags: ["a", "b"] }],
    ["one name as a list, where a list is wanted", ["tags=a", "sizes=1"], { tags: ["a"], sizes: [1] }],
    [
      "lists and objects as JSON",
      ["sizes=[1,2]", 'address={"city":"Oslo"}'],
      { sizes: [1, 2], address: { city: "Oslo" } },
    ],
    ["JSON that is forced", ['tags:=["a"]', "count:=4"], { tags: ["a"], count: 4 }],
    ["the text of a file", ["item=@item.txt"], { item: "from a file" }],
    ["a value that begins with @", ["item=@@home"], { item: "@home" }],
    ["a value with equals signs", ["item=a=b=c"], { item: "a=b=c" }],
    ["a JSON object with names that outweigh it", ['{"item":"ale","count":9}', "count=2"], { item: "ale", count: 2 }],
  ])("reads %s", async (_what, words, expected) => {
    writeFileSync(join(folder, "item.txt"), "from a file");
    const rest = { item: "tea", count: 1, code: "ABC", gift: false };
    const named = new Set(words.map((word) => word.split(/:?=/)[0]));
    const more = Object.entries(rest).flatMap(([name, value]) => (named.has(name) ? [] : [`${name}=${value}`]));
    const { code, stdout, stderr } = await order([
      ...words,
      ...(words[0]?.startsWith("{") ? ["code=ABC", "gift=false"] : more),
    ]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ ...rest, ...expected });
  });

  it("takes the arguments from stdin", async () => {
    const { stdout } = await call(["add", "-"], { stdin: '{"a": 20, "b": 22}' });
    expect(JSON.parse(stdout)).toEqual({ sum: 42 });
  });

  it.each<[readonly string[], number, readonly string[]]>([
    [["ad", "a=1"], 1, ['the server has no tool "ad"', "Did you mean add?"]],
    [["zzzzzzz"], 1, ["Use one of: add, echo, fail, picture, slow, greet, think."]],
    [["add", "a=1"], 2, ["b: number, the second", "Add b=…."]],
    [["add"], 2, ["a: number, the first", "b: number, the second", "Add a=… b=…."]],
    [["echo", "txt=hi"], 2, ['no argument "txt"', "Did you mean text?"]],
    [["fail", "x=1"], 2, ["It takes no arguments."]],
    [["add", "a=one", "b=2"], 2, ['the argument "a" is not a number']],
    [["add", "a:={", "b=2"], 2, ["is not valid JSON: line 1, column 2: close brace expected"]],
    [["add", "a=1", "a=2", "b=2"], 2, ['"a" is given 2 times']],
    [["add", "1", "2"], 2, ['"1" is not an argument', "name=value"]],
    [["add", '{"a": 1,\n "b" 2}'], 2, ["the arguments are not valid JSON: line 2, column 6: colon expected"]],
    [["add", '{"a": one}'], 2, ["the arguments are not valid JSON: line 1, column 7: invalid symbol"]],
    [["add", "{}", "c=2"], 2, ['add has no argument "c"']],
    [["add", "{}", "{}"], 2, ["twice"]],
    [["echo", "text=@nothing.txt"], 2, ["the file nothing.txt does not exist"]],
    [["echo", "-"], 2, ["not valid JSON"]],
    [[], 2, ["which tool?"]],
    [["think", "--sample-with", "'open"], 2, ["an unclosed quote"]],
    [["think", "--root", "nowhere"], 2, ["--root nowhere is not a folder"]],
    [["greet", "--answers", "[]"], 2, ["--answers is not a JSON object"]],
    [["greet", "--answer", "name"], 2, ["--answer name=value"]],
  ])("%j fails with exit code %i and says why", async (words, expected, said) => {
    const { code, stdout, stderr } = await call(words);
    for (const part of said) expect(stderr).toContain(part);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(expected);
    expect(stdout).toBe("");
  });

  it.each([
    ["call", ["node", "dist/stdio.js", "add"], "tool", "node dist/stdio.js"],
    ["prompt", ["node", "dist/stdio.js"], "prompt", "node dist/stdio.js"],
    ["read", ["docker", "run", "-i", "notes"], "uri", "docker run …"],
  ])("%s says that the name goes before the program %j", async (command, program, placeholder, shown) => {
    const { code, stderr } = await runParley([command, "--", ...program]);
    expect(code).toBe(2);
    expect(stderr).toContain(`before \`--\`: \`parley ${command} <${placeholder}> -- ${shown}\`.`);
  });

  it("reports a failure as JSON too", async () => {
    const { code, stdout } = await call(["add", "a=1", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { kind: "usage", fix: "Add b=…." } });
  });

  it("ends with 1 where the tool fails, and says why on stderr", async () => {
    expect(await call(["fail"])).toEqual({ code: 1, stdout: "", stderr: "it never works\n" });
    const { code, stdout } = await call(["fail", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ isError: true });
  });

  it("saves a picture to a new file, each time", async () => {
    expect((await call(["picture"])).stdout).toBe("saved: picture.png (image/png, 70 bytes)\n");
    expect((await call(["picture"])).stdout).toContain("saved: picture-2.png");
    expect(readFileSync(join(folder, "picture.png")).subarray(1, 4).toString()).toBe("PNG");
  });

  it("saves to the file or the folder of --output, and replaces only by --force", async () => {
    expect((await call(["picture", "-o", "deep/down/"])).stdout).toContain("deep/down/picture.png");
    writeFileSync(join(folder, "mine.png"), "mine");
    const refused = await call(["picture", "-o", "mine.png"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("mine.png already exists");
    expect(readFileSync(join(folder, "mine.png"), "utf8")).toBe("mine");
    expect((await call(["picture", "-o", "mine.png", "--force"])).code).toBe(0);
    expect(readFileSync(join(folder, "mine.png"))).toHaveLength(70);
  });

  it("follows no link that stands where a file would be written", async () => {
    symlinkSync(join(folder, "elsewhere"), join(folder, "picture.png"));
    expect((await call(["picture"])).stdout).toContain("picture-2.png");
    expect(existsSync(join(folder, "elsewhere"))).toBe(false);
  });

  it("keeps bytes in the JSON, or in the file that was asked for", async () => {
    const inline = JSON.parse((await call(["picture", "--json"])).stdout) as { content: object[] };
    expect(inline.content[0]).toMatchObject({ type: "image", data: expect.any(String) });
    expect(readdirSync(folder)).toEqual([]);
    const filed = JSON.parse((await call(["picture", "--json", "-o", "p.png"])).stdout) as { content: object[] };
    expect(filed.content[0]).toEqual({ type: "image", mimeType: "image/png", file: "p.png", bytes: 70 });
  });

  it("says nothing of progress in a pipe, and lines with --debug", async () => {
    expect(await call(["slow", "steps=2"])).toEqual({ code: 0, stdout: "2 steps\n", stderr: "" });
    expect((await call(["slow", "steps=2", "--debug"])).stderr).toMatch(/^━+─+ +50 % {2}step 1$/m);
  });

  it("cancels the call at the server when it is interrupted", async () => {
    const before = noticed.cancelled;
    const interrupt = new AbortController();
    const running = runParley(["call", handles[1]?.url ?? "", "last"], {
      signal: interrupt.signal,
      tty: true,
      onStderr: (text) => {
        if (text.includes("three quarters")) interrupt.abort(new Error("interrupted"));
      },
    });
    const { code, stderr } = await running;
    expect(code).toBe(130);
    expect(stderr).toContain("interrupted");
    await expect.poll(() => noticed.cancelled).toBe(before + 1);
  });
});
