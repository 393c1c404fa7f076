import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleParley } from "../kit/bundle-parley.js";
import { noScreen, Screen } from "../kit/screen.js";

if (noScreen !== undefined) console.log(`no questions of projects were tried on a terminal: ${noScreen}`);

describe.skipIf(noScreen !== undefined)("on a terminal", () => {
  let place: string;
  let parley: string;
  beforeAll(async () => {
    place = realpathSync(mkdtempSync(join(tmpdir(), "parley-project-screen-")));
    parley = await bundleParley();
    mkdirSync(join(place, "skills/hello"), { recursive: true });
    writeFileSync(join(place, "skills/hello/SKILL.md"), "---\nname: hello\ndescription: Says hello.\n---\n");
    writeFileSync(join(place, "skills/hello/index.ts"), "export default () => 'hello from the skill';\n");
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  const screen = (...args: string[]) => new Screen([process.execPath, parley, ...args], { cwd: place });

  it("parley init asks for the folder, the name, the purpose, the transport and the installation", async () => {
    await using shown = screen("init");
    await shown.shows("Folder");
    shown.press(...Array<string>("my-server".length).fill("BSpace"));
    shown.type("skills");
    shown.press("Enter");
    await shown.shows("skills is not empty");
    shown.press(...Array<string>("skills".length).fill("BSpace"));
    shown.type("asked");
    shown.press("Enter");
    await shown.shows("Package name");
    shown.type("2");
    shown.press("Enter");
    await shown.shows("Purpose");
    shown.press("Enter");
    await shown.shows("Transport");
    shown.press("Down", "Enter");
    await shown.shows("Run npm install?");
    shown.type("n");
    await shown.shows("  npm install");
    expect(await shown.ended()).toBe(0);
    expect(JSON.parse(readFileSync(join(place, "asked/package.json"), "utf8"))).toMatchObject({
      name: "asked2",
    });
    expect(existsSync(join(place, "asked/src/stdio.ts"))).toBe(true);
    expect(existsSync(join(place, "asked/src/http.ts"))).toBe(false);
  });

  it("parley init writes nothing when the user leaves", async () => {
    await using shown = screen("init", "left");
    await shown.shows("Package name");
    shown.press("C-c");
    expect(await shown.ended()).toBe(130);
    expect(existsSync(join(place, "left"))).toBe(false);
  });

  it.each([
    ["y", "hello from the skill", 0],
    ["n", "with all permissions of your user", 130],
  ])("parley skills run asks, and %j decides", async (key, wanted, code) => {
    await using shown = screen("skills", "run", "hello");
    await shown.shows("Run it?");
    shown.type(key);
    expect(await shown.ended()).toBe(code);
    const text = await shown.shows(wanted);
    if (key === "n") expect(text).not.toContain("hello from the skill");
  });
});
