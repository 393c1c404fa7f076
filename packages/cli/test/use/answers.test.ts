import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { askingServer } from "./asking-server.js";

// Both ways in which questions travel: as requests in a session, and as interim results.
describe.each(["2025-11-25", "2026-07-28"])("questions without a terminal, in revision %s", (revision) => {
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  let folder: string;
  beforeAll(async () => {
    handle = await serveHttp(askingServer(), { port: 0 });
    folder = mkdtempSync(join(tmpdir(), "parley-answers-"));
  });
  afterAll(async () => {
    await handle.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = (...words: readonly string[]) =>
    runParley(["call", handle.url, "--revision", revision, ...words], { cwd: folder });
  const program = (name: string, code: string) => {
    writeFileSync(join(folder, name), code);
    return `"${process.execPath}" ${name}`;
  };

  it("declines a form, and says how to answer it", async () => {
    const { code, stdout, stderr } = await call("form");
    expect(code).toBe(0);
    expect(stdout).toBe('{"action":"decline"}\n');
    expect(stderr).toBe(
      'asker asked "What do you want?". Declined, because this run is not interactive. To answer: ' +
        "--answer mail=… --answer count=… --answer size=… --answer extras=… --answer gift=…\n",
    );
  });

  it("answers a form by names and values, typed by the form", async () => {
    const { stdout } = await call(
      "form",
      "-a",
      "mail=a@b.example",
      "-a",
      "size=l",
      "-a",
      "count=3",
      "-a",
      "extras=ice",
    );
    const content = { mail: "a@b.example", size: "l", count: 3, extras: ["ice"] };
    expect(JSON.parse(stdout)).toEqual({ action: "accept", content });
  });

  it("takes a repeated name as several answers of a list", async () => {
    const { stdout } = await call(
      "form",
      "-a",
      "mail=a@b.example",
      "-a",
      "size=s",
      "-a",
      "extras=ice",
      "-a",
      "extras=milk",
    );
    expect(JSON.parse(stdout)).toMatchObject({ action: "accept", content: { extras: ["ice", "milk"] } });
    const twice = await call("form", "-a", "mail=a@b.example", "-a", "size=s", "-a", "size=l");
    expect(twice.stderr).toContain("/size");
    expect(twice).toMatchObject({ code: 2, stdout: "" });
  });

  it("answers a form by JSON, and fills in its defaults", async () => {
    const { stdout } = await call("form", "--answers", '{"mail":"a@b.example","size":"s","gift":true,"other":1}');
    const content = { mail: "a@b.example", size: "s", gift: true, count: 2 };
    expect(JSON.parse(stdout)).toEqual({ action: "accept", content });
  });

  it("declines with too few answers, and names those that are missing", async () => {
    const { stdout, stderr } = await call("form", "-a", "mail=a@b.example");
    expect(stdout).toBe('{"action":"decline"}\n');
    expect(stderr).toContain("To answer: --answer size=…\n");
  });

  it.each([
    [["-a", "mail=nobody", "-a", "size=s"], "/mail"],
    [["-a", "mail=a@b.example", "-a", "size=s", "-a", "count=many"], "is not a whole number"],
    [["-a", "mail=a@b.example", "-a", "size=s", "-a", "gift=maybe"], '"gift" is not true or false'],
  ])("ends with 2 for the answers %j, which do not fit", async (answers, said) => {
    const { code, stdout, stderr } = await call("form", ...answers);
    expect(stderr).toContain("error: an --answer does not fit the form of asker: ");
    expect(stderr).toContain(said);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  it("declines a page, and shows its address", async () => {
    const { code, stderr } = await call("page");
    expect(code).toBe(1);
    expect(stderr).toContain("address: https://pay.example/cart?id=7");
    expect(stderr).toContain("host:    pay.example");
  });

  it("shows the pages that a server requires first", async () => {
    const { code, stderr } = await call("locked");
    expect(stderr).toContain("address: https://login.example/start");
    // Without sessions it is a question, after which the server goes on; with them the call is refused.
    expect(code).toBe(revision === "2025-11-25" ? 1 : 0);
  });

  it("asks a program in place of a model: the request on stdin, the answer on stdout", async () => {
    const code =
      'let s="";process.stdin.on("data",(d)=>s+=d).on("end",()=>console.log(JSON.parse(s).messages[0].content.text))';
    const { stdout } = await call("think", "--sample-with", program("echo.cjs", code));
    expect(JSON.parse(stdout)).toEqual({
      content: { type: "text", text: "What is 6 times 7?" },
      model: process.execPath,
    });
  });

  it("takes an answer in JSON, with the model that gave it", async () => {
    const code = 'console.log(JSON.stringify({ content: { type: "text", text: "42" }, model: "m-1" }))';
    const { stdout } = await call("think", "--sample-with", program("json.cjs", code));
    expect(JSON.parse(stdout)).toEqual({ content: { type: "text", text: "42" }, model: "m-1" });
  });

  it.each([
    ["fails", 'console.error("no model here"); process.exit(7)', "ended with exit code 7: no model here"],
    ["says too much", "process.stdout.write('x'.repeat(5_000_000))", "printed more than"],
    ["answers with what is no content", 'console.log(\'{"content":{"type":"film"}}\')', "the protocol does not define"],
  ])("fails where the program %s", async (name, source, said) => {
    const { code, stdout, stderr } = await call("think", "--sample-with", program(`${name.length}.cjs`, source));
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain(said);
  });

  it("fails where there is no such program, and runs no shell", async () => {
    const { code, stdout, stderr } = await call("think", "--sample-with", "no-such-program; echo 42");
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain("no-such-program;");
  });

  it("declines a question to a model without one, and says how to answer it", async () => {
    const { code, stderr } = await call("think");
    expect(code).toBe(1);
    expect(stderr).toContain("To answer: --sample-with <command>");
  });

  it("runs a tool as a task with --task, answers what it asks, and says what is missing without", async () => {
    const { stdout } = await call("report", "--task", "--answer", "format=pdf");
    expect(stdout).toBe("a report as pdf\n");
    const { code, stderr } = await call("report", "--answer", "format=pdf");
    expect(code).toBe(1);
    expect(stderr).toContain("task");
  });

  it("tells the folders of --root", async () => {
    const { stdout } = await call("folders", "--root", ".", "--root", tmpdir());
    expect(JSON.parse(stdout)).toEqual([
      { uri: pathToFileURL(folder).href, name: expect.any(String) },
      { uri: pathToFileURL(tmpdir()).href, name: expect.any(String) },
    ]);
  });
});
