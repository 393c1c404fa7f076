import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { skill, skills } from "@parley/mcp/skills";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { runParley } from "../kit/run-parley.js";

const MODULE = `export default async ({ client, args }: { client?: { call(name: string, args: object): Promise<unknown> }; args: string[] }) =>
  client === undefined ? \`no server, \${args.join()}\` : client.call("refund", { order: Number(args[0]) });
`;

const refunds = skill({
  name: "refunds",
  description: "Processes refunds.\u001b[2J",
  body: "Read references/policy.md.\n",
  files: { "references/policy.md": "At most 30 days.\n", "index.ts": MODULE },
});
const today = skill({ name: "today", description: "What is new today.", body: () => "nothing\n" });

describe("parley skills", () => {
  let cwd: string;
  let handle: Awaited<ReturnType<typeof serveHttp>>;
  beforeEach(async () => {
    cwd = realpathSync(mkdtempSync(join(tmpdir(), "parley-skills-")));
    const server = new Server({ name: "shop", version: "1" }, { extensions: [skills(refunds, today)] }).tool(
      "refund",
      { input: z.object({ order: z.number() }) },
      ({ order }) => `refunded ${order}`,
    );
    handle = await serveHttp(server, { port: 0 });
  });
  afterEach(async () => {
    await handle.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const run = (...args: string[]) => runParley(["skills", ...args], { cwd });

  it("lists, saves, lists again and runs", async () => {
    const listed = await run("list", handle.url);
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/^refunds +3 files +Processes refunds\./m);
    expect(listed.stdout).toMatch(/^today +dynamic/m);
    expect(listed.stdout).not.toContain("\u001b");

    const saved = await run("save", handle.url, "refunds");
    expect(saved).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(cwd, "skills/refunds/references/policy.md"), "utf8")).toBe("At most 30 days.\n");
    expect(readdirSync(join(cwd, "skills"))).toEqual(["refunds"]);

    const local = await run("list", "--json");
    expect(JSON.parse(local.stdout).skills).toMatchObject([{ frontmatter: { name: "refunds" } }]);

    const ran = await run("run", "refunds", "7", "--server", handle.url, "--yes");
    expect(ran).toMatchObject({ code: 0, stdout: "refunded 7\n" });
    expect(ran.stderr).toContain("saved from shop (skill://refunds/SKILL.md)");
    expect(ran.stderr).not.toContain("changed since");
    const alone = await run("run", "skills/refunds", "a", "b", "--yes", "--json");
    expect(JSON.parse(alone.stdout)).toEqual({ result: "no server, a,b" });
  });

  it("never runs anything that nobody agreed to", async () => {
    await run("save", handle.url, "refunds");
    const { code, stderr } = await run("run", "refunds");
    expect(code).toBe(2);
    expect(stderr).toContain("cannot ask for confirmation");
  });

  it("says what was changed since it was saved", async () => {
    await run("save", handle.url, "refunds");
    writeFileSync(join(cwd, "skills/refunds/index.ts"), "export default () => 1;\n");
    writeFileSync(join(cwd, "skills/refunds/new.ts"), "");
    rmSync(join(cwd, "skills/refunds/references/policy.md"));
    const { stderr, stdout } = await run("run", "refunds", "--yes");
    expect(stderr).toContain("changed since it was saved: index.ts, new.ts, references/policy.md");
    expect(stdout).toBe("1\n");
  });

  it("replaces nothing, and leaves nothing half written", async () => {
    mkdirSync(join(cwd, "skills/refunds"), { recursive: true });
    const { code, stderr } = await run("save", handle.url, "refunds");
    expect(code).toBe(2);
    expect(stderr).toContain("already exists");
    expect(readdirSync(join(cwd, "skills"))).toEqual(["refunds"]);
    expect(readdirSync(join(cwd, "skills/refunds"))).toEqual([]);
  });

  it("runs no module outside the skill", async () => {
    await run("save", handle.url, "refunds");
    writeFileSync(join(cwd, "other.ts"), "export default () => 'outside';\n");
    symlinkSync(join(cwd, "other.ts"), join(cwd, "skills/refunds/link.ts"));
    for (const module of ["../../other.ts", "link.ts", join(cwd, "other.ts"), "SKILL.md"]) {
      const { code, stderr, stdout } = await run("run", "refunds", "--yes", "--module", module);
      expect(stderr).toContain("is not a module of the skill");
      expect(code).toBe(2);
      expect(stdout).toBe("");
    }
  });

  it.each([
    [["save", "URL"], "which skill?"],
    [["save", "URL", "nothing"], "Use one of: refunds, today."],
    [["save", "URL", "today"], "the skill today is dynamic"],
    [["run"], "which skill?"],
    [["run", "nothing"], 'no skill "nothing" was found'],
    [["run", "bare", "--yes"], "no module to run"],
    [["run", "odd", "--yes"], "does not export a function"],
  ])("%j fails with its cause and a fix", async (args, cause) => {
    for (const name of ["bare", "odd"]) {
      mkdirSync(join(cwd, "skills", name), { recursive: true });
      writeFileSync(join(cwd, "skills", name, "SKILL.md"), `---\nname: ${name}\ndescription: x\n---\n`);
    }
    writeFileSync(join(cwd, "skills/odd/index.ts"), "export const x = 1;\n");
    const { code, stderr } = await run(...args.map((word) => (word === "URL" ? handle.url : word)));
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/^fix: /m);
    expect(code).toBe(2);
    expect(existsSync(join(cwd, "skills/today"))).toBe(false);
  });

  it("says that there is no folder of skills", async () => {
    const { code, stderr } = await runParley(["skills", "list"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toBe(
      `error: the folder ${join(cwd, "skills")} does not exist\nfix:   Name the folder with --folder, or name a server.\n`,
    );
  });

  it("says that a server without skills has none", async () => {
    await using plain = await serveHttp(new Server({ name: "plain", version: "1" }), { port: 0 });
    const { code, stderr } = await run("list", plain.url);
    expect(code).toBe(1);
    expect(stderr).toContain("does not offer skills/list");
  });

  it("tells skills of the same name apart by their URIs", async () => {
    const nested = ["acme/billing", "acme/support"].map((prefix) =>
      skill({ name: "returns", prefix, description: `Returns of ${prefix}`, body: "Do it.\n" }),
    );
    const server = new Server({ name: "shop", version: "1" }, { extensions: [skills(...nested)] });
    await using serving = await serveHttp(server, { port: 0 });
    const { stdout } = await run("list", serving.url);
    expect(stdout).toMatch(/^skill:\/\/acme\/billing\/returns\/SKILL\.md +1 file/m);
    const refused = await run("save", serving.url, "returns");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("skill://acme/support/returns/SKILL.md");
    expect(await run("save", serving.url, "acme/support/returns")).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(cwd, "skills/returns/SKILL.md"), "utf8")).toContain("Returns of acme/support");
  });
});
