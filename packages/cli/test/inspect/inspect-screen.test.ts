import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noScreen, Screen } from "../kit/screen.js";
import { ModuleFolder } from "../run/module-folder.js";
import { inspectingProgram } from "./inspecting-parley.js";

if (noScreen !== undefined) console.log(`parley inspect was tried on no terminal: ${noScreen}`);

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}/;

describe.skipIf(noScreen !== undefined || process.platform !== "linux")("parley inspect on a terminal", () => {
  /** The command, with a browser that notes what it is to open. */
  async function inspecting(folder: ModuleFolder, args: readonly string[] = [], node: readonly string[] = []) {
    const opener = `#!/bin/sh\nprintf '%s' "$*" > '${folder.path}/opened.new' && mv '${folder.path}/opened.new' '${folder.path}/opened'\n`;
    folder.write("xdg-open", opener, 0o755);
    const env = { PATH: `${folder.path}:${process.env["PATH"]}`, HOME: folder.path };
    const program = [process.execPath, ...node, await inspectingProgram(), "inspect", ...args];
    return new Screen(program, { cwd: folder.path, env, columns: 160 });
  }

  it("prints its address, opens it in the browser, and ends with Ctrl-C", async () => {
    using folder = new ModuleFolder();
    await using screen = await inspecting(folder);
    const [address = ""] = ADDRESS.exec(await screen.shows("Ctrl-C to stop the inspector")) ?? [];
    const opened = join(folder.path, "opened");
    await expect.poll(() => existsSync(opened) && readFileSync(opened, "utf8"), { timeout: 20_000 }).toBe(address);
    expect((await fetch(address)).status).toBe(200);
    screen.press("C-c");
    expect(await screen.ended()).toBe(0);
  });

  it("opens nothing with --no-open", async () => {
    using folder = new ModuleFolder();
    await using screen = await inspecting(folder, ["--no-open"]);
    const [address = ""] = ADDRESS.exec(await screen.shows("Ctrl-C to stop the inspector")) ?? [];
    expect((await fetch(address)).status).toBe(200);
    screen.press("C-c");
    expect(await screen.ended()).toBe(0);
    expect(existsSync(join(folder.path, "opened"))).toBe(false);
  });

  it("serves on a system where nothing is known that opens a browser", async () => {
    using folder = new ModuleFolder();
    const elsewhere = 'data:text/javascript,Object.defineProperty(process, "platform", { value: "aix" })';
    await using screen = await inspecting(folder, [], ["--import", elsewhere]);
    const [address = ""] = ADDRESS.exec(await screen.shows("Ctrl-C to stop the inspector")) ?? [];
    expect((await fetch(address)).status).toBe(200);
    screen.press("C-c");
    expect(await screen.ended()).toBe(0);
  });
});
