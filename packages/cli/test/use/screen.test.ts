import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveHttp } from "@parley/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleParley } from "../kit/bundle-parley.js";
import { noScreen, Screen } from "../kit/screen.js";
import { askingServer, type Noticed } from "./asking-server.js";

if (noScreen !== undefined) console.log(`the command line is not tried on a terminal: ${noScreen}`);

describe.skipIf(noScreen !== undefined)("parley call on a terminal", () => {
  const noticed: Noticed = { cancelled: 0 };
  let program: string;
  let folder: string;
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  beforeAll(async () => {
    program = await bundleParley();
    folder = mkdtempSync(join(tmpdir(), "parley-home-"));
    handle = await serveHttp(askingServer(noticed), { port: 0 });
  });
  afterAll(async () => {
    await handle?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A call on a screen, in a folder without configuration and tokens. */
  function calling(...words: readonly string[]): Screen {
    // A browser of a person is never opened: what opens one is looked for here first.
    const env = { HOME: folder, PARLEY_HOME: folder, PATH: `${folder}:${process.env["PATH"]}` };
    return new Screen([process.execPath, program, "call", handle.url, ...words], { cwd: folder, env });
  }

  it("fills in a form, says what is wrong with an answer, and sends what was shown", async () => {
    await using screen = calling("form");
    const first = await screen.shows("Do you want to answer?");
    expect(first).toContain("asker asks:");
    expect(first).toContain("What do you want?");
    screen.press("Enter");
    expect(await screen.shows("Mail (mail)")).toContain("where to write");
    screen.type("nobody");
    screen.press("Enter");
    await screen.shows(/email/);
    screen.type("@example.org");
    screen.press("Enter");
    await screen.shows(/count/);
    screen.type("12");
    screen.press("Enter");
    await screen.shows(/must be .*9/);
    screen.press("BSpace", "Enter");
    await screen.shows("Large");
    screen.press("Down", "Enter");
    await screen.shows("sugar");
    screen.press("Space", "Down", "Down", "Space", "Enter");
    expect(await screen.shows(/gift/)).toContain("● skip");
    screen.press("Up", "Enter");
    await screen.shows("Send these answers to asker?");
    screen.press("Enter");
    expect(await screen.ended()).toBe(0);
    const answer = { mail: "nobody@example.org", count: 1, size: "l", extras: ["milk", "ice"], gift: false };
    expect(JSON.parse(lastLine(screen))).toEqual({ action: "accept", content: answer });
  });

  it("takes the default of a field that is left empty, and agrees to nothing by Enter alone", async () => {
    await using screen = calling("form", "--answer", "mail=a@b.example", "--answer", "extras=milk");
    await screen.shows("Do you want to answer?");
    screen.press("Enter");
    await screen.shows("count");
    screen.press("Enter");
    await screen.shows("Small");
    screen.press("Enter");
    await screen.shows("gift");
    screen.press("Enter");
    await screen.shows("Send these answers");
    screen.press("Enter");
    expect(await screen.ended()).toBe(0);
    // What was taken is shown.
    expect(screen.text()).toMatch(/count\n.*2\n/);
    const content = { mail: "a@b.example", extras: ["milk"], count: 2, size: "s" };
    expect(JSON.parse(lastLine(screen))).toEqual({ action: "accept", content });
  });

  it("asks again for answers that are to be changed", async () => {
    await using screen = calling("form", "--answers", '{"mail":"a@b.example","count":1,"extras":["ice"],"gift":false}');
    await screen.shows("Do you want to answer?");
    screen.press("Enter");
    await screen.shows("Small");
    screen.press("Enter");
    await screen.shows("Change them");
    screen.press("Down", "Enter");
    await screen.shows(/● Small/);
    screen.press("Down", "Enter");
    await screen.shows(/● Send/);
    screen.press("Enter");
    expect(await screen.ended()).toBe(0);
    expect(lastLine(screen)).toContain('"size":"l"');
  });

  it("declines a form, which the server is told", async () => {
    await using screen = calling("form");
    await screen.shows("Do you want to answer?");
    screen.press("Down", "Enter");
    expect(await screen.ended()).toBe(0);
    expect(lastLine(screen)).toBe('{"action":"decline"}');
  });

  it.each(["Escape", "C-c"])("cancels a form by %s, and ends as the tool does", async (key) => {
    await using screen = calling("form");
    await screen.shows("Do you want to answer?");
    screen.press("Enter");
    await screen.shows("Mail (mail)");
    screen.press(key);
    expect(await screen.ended()).toBe(0);
    expect(lastLine(screen)).toBe('{"action":"cancel"}');
  });

  it("shows a page with its host, and visits nothing without consent", async () => {
    await using screen = calling("page");
    const shown = await screen.shows("Open it?");
    expect(shown).toContain("address: https://pay.example/cart?id=7");
    expect(shown).toMatch(/host: +pay\.example$/m);
    // What Enter alone does must not open anything.
    screen.press("Enter");
    expect(await screen.ended()).toBe(1);
    expect(screen.text()).not.toContain("the page was agreed to");
  });

  it.skipIf(process.platform !== "linux")("opens a page in the browser when it is told to", async () => {
    const opened = join(folder, "opened");
    writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf '%s' "$*" > '${opened}'\n`, { mode: 0o755 });
    await using screen = calling("page");
    await screen.shows("Open it?");
    screen.press("Down", "Enter");
    expect(await screen.ended()).toBe(0);
    await expect.poll(() => existsSync(opened) && readFileSync(opened, "utf8")).toBe("https://pay.example/cart?id=7");
  });

  it("accepts a page that the person opens", async () => {
    await using screen = calling("page");
    await screen.shows("Open it?");
    screen.press("Down", "Down", "Enter");
    expect(await screen.ended()).toBe(0);
    expect(lastLine(screen)).toBe("the page was agreed to");
  });

  it("visits the pages that a server requires, and calls again", async () => {
    await using screen = calling("locked", "--revision", "2025-11-25");
    expect(await screen.shows("Open it?")).toContain("address: https://login.example/start");
    screen.press("Down", "Down", "Enter");
    await screen.shows("Call again?");
    screen.press("Enter");
    expect(await screen.ended()).toBe(0);
    expect(lastLine(screen)).toBe("unlocked");
  });

  it("lets a person answer in place of a model, and see what it is asked", async () => {
    await using screen = calling("think");
    const shown = await screen.shows("in place of a model?");
    expect(shown).toContain("Be short.");
    expect(shown).toContain("What is 6 times 7?");
    screen.press("Enter");
    await screen.shows("Your answer");
    screen.type("forty-two");
    screen.press("Enter");
    expect(await screen.ended()).toBe(0);
    expect(JSON.parse(lastLine(screen))).toEqual({ content: { type: "text", text: "forty-two" }, model: "human" });
  });

  it("asks for missing arguments, with feedback by the tool's schema", async () => {
    await using screen = calling("order", "item=tea");
    await screen.shows(/count.*how many/);
    screen.type("x");
    screen.press("Enter");
    await screen.shows("Enter a whole number.");
    screen.press("BSpace", "3", "Enter");
    await screen.shows("code");
    screen.type("ab");
    screen.press("Enter");
    await screen.shows(/pattern/);
    screen.press("BSpace", "BSpace", "A", "B", "C", "Enter");
    await screen.shows("gift");
    screen.press("Enter");
    expect(await screen.ended()).toBe(0);
    expect(JSON.parse(lastLine(screen))).toEqual({ item: "tea", count: 3, code: "ABC", gift: false });
  });

  it("shows how far a call is, and cancels it at the server on Ctrl-C", async () => {
    const before = noticed.cancelled;
    await using screen = calling("last");
    await screen.shows(/━+─+ +75 % {2}three quarters/);
    screen.press("C-c");
    expect(await screen.ended()).toBe(130);
    expect(screen.text()).toContain("interrupted");
    expect(screen.text()).not.toContain("three quarters");
    await expect.poll(() => noticed.cancelled).toBe(before + 1);
  });
});

function lastLine(screen: Screen): string {
  return screen.text().split("\n").at(-1) ?? "";
}
