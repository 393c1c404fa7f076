import { readFileSync } from "node:fs";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, type OpenedPage, openPageAt } from "../../../inspector/test/kit/inspected-page.js";
import { eventually, isRunning } from "../../../mcp/test/stdio/processes.js";
import { ModuleFolder } from "../run/module-folder.js";
import { InspectingParley } from "./inspecting-parley.js";

const MODULE = `import { Server } from "@parley/mcp";
  export default new Server({ name: "module", version: "1.0.0" }).tool("ask", async (_, ctx) => {
    const messages = [{ role: "user", content: { type: "text", text: "How are you?" } }];
    const { content } = await ctx.sample({ messages, maxTokens: 10 });
    return "the model says: " + content.text;
  });`;
/** A program that serves under a name, and writes its number to a file. */
const PROGRAM = `import { writeFileSync } from "node:fs"; import { Server } from "@parley/mcp"; import { serveStdio } from "@parley/mcp/node";
  const name = process.argv[2]; writeFileSync("pid-" + name, String(process.pid)); console.error(name + " is up");
  await serveStdio(new Server({ name, version: "1.0.0" }).tool("hello", () => "hello from " + name));`;
const MODEL = `process.stdin.resume().on("end", () => console.log("I am well."));`;

describe.runIf(hasBrowser)("the page of parley inspect", () => {
  const folder = new ModuleFolder({ "server.ts": MODULE, "program.mjs": PROGRAM, "model.mjs": MODEL }).link();
  const configured = { command: process.execPath, args: ["program.mjs", "configured"], cwd: folder.path };
  folder.write(".mcp.json", JSON.stringify({ mcpServers: { one: configured, two: configured } }));
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  let parley: InspectingParley;
  let opened: OpenedPage;
  let page: Page;

  beforeAll(async () => {
    handle = await serveHttp(new Server({ name: "remote", version: "1.0.0" }), { port: 0 });
    const words = ["one", "./server.ts", handle.url];
    const model = ["--sample-with", `${process.execPath} model.mjs`];
    const program = ["--", process.execPath, "program.mjs", "typed"];
    parley = await InspectingParley.start([...words, ...model, ...program], { cwd: folder.path });
    opened = await openPageAt((await parley.url()).href);
    page = opened.page;
  });
  afterAll(async () => {
    await opened?.close();
    await parley?.[Symbol.asyncDispose]();
    await handle?.close();
    folder[Symbol.dispose]();
  });

  const connections = () => page.getByRole("region", { name: "Connections" }).getByRole("button");
  const show = (server: string) => connections().filter({ hasText: server }).click();
  const goTo = (view: string) => page.getByRole("tablist", { name: "Views" }).getByRole("tab", { name: view }).click();

  it("connects to what the command line names, by address, module, program and the name of a file's server", async () => {
    for (const name of ["configured", "module", "remote", "typed"]) {
      await connections()
        .filter({ hasText: `${name}ready` })
        .waitFor();
    }
    expect(await connections().count()).toBe(4);
    const offered = await page.getByRole("region", { name: "From the terminal" }).getByRole("button").allTextContents();
    expect(offered).toHaveLength(4);
    expect(offered.join()).toMatch(/server\.ts.*program\.mjs typed/);
  });

  it("has no key in its address once it is open, and opens again after a reload", async () => {
    expect(page.url()).not.toContain("token");
    await page.reload();
    await connections().first().waitFor();
    expect(await connections().count()).toBe(4);
  });

  it("shows what a program writes to stderr", async () => {
    await goTo("Timeline");
    await page.getByRole("listbox", { name: "Timeline" }).getByText("stderr: typed is up").waitFor();
  });

  it.each(["2025-11-25", "2026-07-28"])(
    "runs tools, and lets the program of --sample-with answer, in %s",
    async (revision) => {
      await show("module");
      await goTo("Server");
      await page.getByLabel("Protocol revision").selectOption(revision);
      await connections()
        .filter({ hasText: `moduleready · ${revision}` })
        .waitFor();
      await goTo("Use");
      await page.getByRole("listbox", { name: "List of tools" }).getByRole("option", { name: "ask" }).click();
      await page.getByRole("button", { name: /^Run/ }).click();
      const question = page.getByRole("dialog", { name: "module asks a model" });
      await question.getByText("How are you?").waitFor();
      await question.getByRole("button", { name: "Let the command draft an answer" }).click();
      await question.getByText("drafted by the command").waitFor();
      await question.getByRole("button", { name: "Send" }).click();
      await question.waitFor({ state: "detached" });
      const ended = page
        .getByRole("region", { name: "Call history" })
        .getByRole("listitem")
        .filter({ hasText: "done" });
      await expect.poll(() => ended.count()).toBe(revision === "2025-11-25" ? 1 : 2);
      await page.getByRole("main").getByText("the model says: I am well.").first().waitFor();
    },
  );

  it("lists the tools of a module as they are after a save, without a click", async () => {
    await show("module");
    await goTo("Use");
    const tools = page.getByRole("listbox", { name: "List of tools" }).getByRole("option");
    await tools.filter({ hasText: "ask" }).waitFor();
    folder.write("server.ts", MODULE.replace('tool("ask"', 'tool("ask_again"'));
    await tools.filter({ hasText: "ask_again" }).waitFor();
    expect(await tools.count()).toBe(1);
  });

  it("loads a module as it is now when its connection is opened again", async () => {
    folder.write("server.ts", MODULE.replace('tool("ask"', 'tool("ask_at_last"'));
    await goTo("Server");
    await page.getByRole("button", { name: "Reconnect", exact: true }).click();
    await goTo("Use");
    const tools = page.getByRole("listbox", { name: "List of tools" }).getByRole("option");
    await tools.filter({ hasText: "ask_at_last" }).waitFor();
    expect(await tools.count()).toBe(1);
  });

  it("asked nobody but the inspector, has no errors, and says when Ctrl-C has ended it, which leaves no program", async () => {
    const { origin } = await parley.url();
    expect(opened.requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
    expect(opened.problems).toEqual([]);
    const pids = ["configured", "typed"].map((name) => Number(readFileSync(`${folder.path}/pid-${name}`, "utf8")));
    expect(pids.map(isRunning)).toEqual([true, true]);
    expect(await parley.end("SIGINT"), parley.stderr).toBe(0);
    await page.getByRole("alert").getByText("The inspector has stopped").waitFor();
    expect(await eventually(() => !pids.some(isRunning))).toBe(true);
  });
});
