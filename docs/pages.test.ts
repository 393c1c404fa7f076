import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ERROR_KINDS, McpError, REVISIONS } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { TRANSITIONS } from "../packages/mcp/src/client/connection/connection-state.js";
import { DEFAULT_SERVER_LIMITS } from "../packages/mcp/src/server/contract/options.js";
import {
  DEFAULT_EVENT_LOG,
  DEFAULT_TIMES,
  DEFAULT_HTTP_LIMITS as HTTP_LIMITS,
} from "../packages/mcp/src/transport/http/server/state.js";
import { region } from "./region.js";

const root = resolve(import.meta.dirname, "..");
const read = (page: string) => readFileSync(join(root, page), "utf8");
const guides = readdirSync(join(root, "docs"), { encoding: "utf8" }).filter((name) => name.endsWith(".md"));
const pagesIn = (folder: string) =>
  readdirSync(join(root, folder), { encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
const pages = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...["docs", "docs/internals", "docs/api"].flatMap(pagesIn),
];

function table(heading: string, values: object): string {
  const rows = Object.entries(values).map(([name, value]) => `| \`${name}\` | ${said(name, value)} |\n`);
  return `| ${heading} | default |\n|---|---|\n${rows.join("")}`;
}

function stateTable(): string {
  const rows = TRANSITIONS.map(({ from, event, to, when }) => `| ${from} | ${event} | ${to} | ${when} |\n`);
  return `| from | event | to | when |\n|---|---|---|---|\n${rows.join("")}`;
}

/** A number as people read it. */
function said(name: string, value: number): string {
  if (/Bytes$|Buffer$|Length$/.test(name))
    return value % 1048576 === 0 ? `${value / 1048576} MiB` : `${value / 1024} KiB`;
  if (name.endsWith("Ms")) return value % 60_000 === 0 ? `${value / 60_000} min` : `${value / 1000} s`;
  return value.toLocaleString("en");
}

describe("tables in the guides say what the code says", () => {
  it.each([
    ["docs/clients.md", "states", stateTable()],
    ["docs/servers.md", "server limits", table("limit", DEFAULT_SERVER_LIMITS)],
    ["docs/http.md", "http limits", table("limit", HTTP_LIMITS)],
    ["docs/http.md", "http times", table("time", DEFAULT_TIMES)],
    ["docs/http.md", "http log", table("limit", DEFAULT_EVENT_LOG)],
  ])("%s: %s", (page, name, text) => {
    expect(region(page, name, text)).toBe(text);
  });
});

describe("what new users looked for", () => {
  it.each([
    ["docs/clients.md", "says how a server keeps its types", "Statements\n(`server.tool(…);` on a line of its own)"],
    ["docs/clients.md", "says what keeps a process alive", "### What keeps a process alive"],
    ["docs/servers.md", "says how a handler uses its own server", "A handler may use the server that it is part of"],
    ["docs/servers.md", "says where the stack of an error goes", "`onError`"],
    ["docs/servers.md", "says what `ctx.session` holds", "`initialized`, and `end(reason)`"],
    ["docs/getting-started.md", "says how to install", "npm install "],
    ["docs/getting-started.md", "says how applications start a server", "claude_desktop_config.json"],
    ["docs/agents.md", "turns tools into the formats of model providers", "input_schema: inputSchema"],
    ["docs/deploying.md", "says how to deploy", "dockerfile"],
    ["docs/testing.md", "names the parts for tests", "`chaosTransport()`"],
    ["docs/migrating.md", "says what a v1 result becomes", "isError"],
    ["docs/notifications.md", "says how to subscribe to lists", "resources: true"],
    ["docs/api/options.md", "lists the options of `connect`", "## `connect"],
    ["docs/status.md", "names what is not built", "- Not built: compression"],
    ["docs/transports.md", "says why the cap of a message is not negotiated", "The cap is not negotiated"],
    ["docs/clients.md", "says why there is no `ping` before the handshake", "There is no client before the handshake"],
    ["docs/servers.md", "says how to choose clients, and what is declared to each", "which clients are served"],
    ["docs/cli-tokens.md", "says when to offer tools directly, by search or as code", "Which way to choose"],
    ["docs/performance.md", "says what bounds each component", "## What bounds the components"],
    ["docs/adr/0012-requests-before-initialized.md", "gives the reason for serving early requests", "overtake"],
    ["docs/adr/0013-sends-are-not-retried.md", "gives the reason for a queue without retries", "keep their order"],
    ["docs/adr/0014-message-sizes-are-not-negotiated.md", "gives the reason for caps on each side", "no capability"],
    ["docs/adr/0015-no-compression.md", "gives the reason for messages as they are", "BREACH"],
    ["AGENTS.md", "leads agents to the guide for contributors", "(CONTRIBUTING.md)"],
    ["README.md", "says elicitation, sampling and roots", "elicitation"],
  ])("%s %s", (page, _what, text) => {
    expect(read(page)).toContain(text);
  });
});

describe("the page about errors", () => {
  const sections = read("docs/errors.md").split(/^### /m).slice(1);

  it("has one section for each kind", () => {
    const named = sections.map((section) => /^`(\w+)`/.exec(section)?.[1]);
    expect([...named].sort()).toEqual([...ERROR_KINDS].sort());
  });

  it.each(ERROR_KINDS)("names the code, the cause and the fix of %s", (kind) => {
    const section = sections.find((text) => text.startsWith(`\`${kind}\``)) ?? "";
    expect(section).toContain(`\`${kind}\` (${new McpError(kind, "").code})`);
    expect(section).toMatch(/\*\*Cause:\*\* \S.{20,}/s);
    expect(section).toMatch(/\*\*Fix:\*\* \S.{20,}/s);
  });
});

describe("links", () => {
  it.each(pages)("of %s lead somewhere", (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)]+)\)/g)].map(([, target = ""]) => target);
    const broken = targets.filter((target) => {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(file)) return true;
      return anchor !== undefined && !anchorsOf(file).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it("of the index name every page", () => {
    const listed = (page: string) => read("docs/README.md").includes(`(${page.slice("docs/".length)})`);
    const own = [...pagesIn("docs"), ...pagesIn("docs/internals")].filter((page) => page !== "docs/README.md");
    expect(own.filter((page) => !listed(page))).toEqual([]);
  });

  it("of llms.txt name every guide", () => {
    const index = read("llms.txt");
    // Others are reports that programs write; they say so.
    const written = guides.filter((name) => !/\b(generated|written) by\b/i.test(read(`docs/${name}`)));
    expect(written.filter((name) => !index.includes(`docs/${name}`))).toEqual([]);
    const named = [...index.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    expect(named.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });
});

describe("the README of a package", () => {
  const packages = readdirSync(join(root, "packages")).filter((name) =>
    existsSync(join(root, "packages", name, "package.json")),
  );
  const ours = "https://github.com/parley-mcp/parley/";
  const raw = "https://raw.githubusercontent.com/parley-mcp/parley/main/";

  it.each(packages)("of %s has absolute links, and those to this repository lead somewhere", (name) => {
    const targets = [...read(`packages/${name}/README.md`).matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    expect(targets).not.toEqual([]);
    expect(targets.filter((target) => !target.startsWith("https://"))).toEqual([]);
    const inside = targets.filter((target) => target.startsWith(ours) || target.startsWith(raw));
    const broken = inside.filter((target) => {
      const [path = "", anchor] = target
        .replace(raw, "")
        .replace(ours, "")
        .replace(/^(blob|tree)\/main\//, "")
        .split("#");
      const file = join(root, path === "" ? "README.md" : path);
      if (!existsSync(file)) return true;
      return anchor !== undefined && anchor !== "readme" && !anchorsOf(file).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it.each(packages)("of %s begins with its name", (name) => {
    const { name: full } = JSON.parse(read(`packages/${name}/package.json`)) as { name: string };
    expect(read(`packages/${name}/README.md`)).toMatch(new RegExp(`^# ${full}\n`));
  });
});

it("the README of @parley/mcp names every entry", () => {
  const { exports } = JSON.parse(read("packages/mcp/package.json")) as { exports: object };
  const entries = Object.keys(exports).filter((entry) => !/^\.$|\.json$/.test(entry));
  const readme = read("packages/mcp/README.md");
  expect(entries.filter((entry) => !readme.includes(`\`${entry.slice(1)}\``))).toEqual([]);
});

describe("the figures of the README", () => {
  it("are those of the code and of the reports", () => {
    const readme = read("README.md");
    expect(REVISIONS).toHaveLength(5);
    expect(readme).toContain(`all five revisions, ${REVISIONS[0]} to ${REVISIONS.at(-1)}`);
    type Fault = { passed: boolean; measures: { name: string; value: number }[] };
    const faults = JSON.parse(read("packages/mcp/test/chaos/report.json")) as Fault[];
    expect(readme).toContain(`${faults.length} kinds of faults`);
    const wrong = faults.map(({ measures }) => measures.find(({ name }) => name === "wrong answers")?.value);
    expect(wrong).toEqual(faults.map(() => 0));
  });
});

/** Anchors as they are made of headings; a heading that comes again gets a number. */
function anchorsOf(file: string): string[] {
  const used = new Map<string, number>();
  return [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => {
    const anchor = text
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-");
    const before = used.get(anchor) ?? 0;
    used.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}
