// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configurations look like placeholders
import { type ConfigDialect, readServers, writeServers } from "@parley/mcp/config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonc } from "../../../src/host/config/parse-jsonc.js";
import { SERVER_FIELDS } from "../../../src/host/config/server-fields.js";

const DIALECTS: ConfigDialect[] = ["parley", "claude", "cursor", "vscode", "codex", "gemini"];
/** No name of a variable; those are shown. */
const CANARY = "c4n4ry!s3cret";

/** JSON as people write it: comments between everything, and commas at the end. */
function sloppy(value: unknown): string {
  const gap = " /* , } */ // ]\n\t";
  if (Array.isArray(value))
    return `[${value.map((item) => gap + sloppy(item) + gap).join(",")}${value.length > 0 ? "," : ""}${gap}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${gap}${JSON.stringify(name)}${gap}:${sloppy(member)}${gap}`,
  );
  return `{${members.join(",")}${members.length > 0 ? "," : ""}${gap}}`;
}

/** Values that a file might have anywhere, with the canary in every text. */
const texts = fc
  .tuple(
    fc.constantFrom("", "$", "${", "${A", "${file:", "${input:", "${A:-", "$${", "\0", "\n"),
    fc.constantFrom("", "}", "}}", " "),
  )
  .map(([before, after]) => `${before}${CANARY}${after}`)
  // What a reference names is shown.
  .filter((text) => !/^\$\{(file|input):.*\}/.test(text));
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    texts,
    fc.constantFrom(null, true, false, 0, -1, 1.5, 7),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("A", "allow", "deny", "X-Y", "a b", "__proto__"), tie("value"), { maxKeys: 3 }),
  ),
}));
const FOREIGN = ["type", "httpUrl", "envFile", "env_vars", "http_headers", "env_http_headers", "bearer_token_env_var"];
const MORE = [
  "timeout",
  "startup_timeout_sec",
  "enabled",
  "includeTools",
  "excludeTools",
  "headersHelper",
  "oauth",
  "zzz",
];
const entries = fc.oneof(
  values,
  fc.dictionary(fc.constantFrom(...Object.keys(SERVER_FIELDS), ...FOREIGN, ...MORE), values, { maxKeys: 6 }),
);

describe("whatever stands in a file", () => {
  it("is read as JSON.parse reads it, with comments and commas or without", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(parseJsonc(JSON.stringify(value, null, 1), "it")).toEqual(plain);
        expect(parseJsonc(sloppy(plain), "it")).toEqual(plain);
      }),
    );
  });

  it("is refused where JSON.parse refuses it, but for comments and commas at the end", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'[]{}:"\\ 1e-.tnul\n') }), (text) => {
        const ours = attempt(() => parseJsonc(text, "it"));
        const theirs = attempt(() => JSON.parse(text.replace(/,(?=\s*[\]}])/g, "")));
        expect(ours).toEqual(theirs);
      }),
      { numRuns: 2000 },
    );
  });

  it("throws nothing, shows no value, and leaves the server beside it alone", () => {
    const fail = (): never => {
      throw new Error(CANARY);
    };
    fc.assert(
      fc.property(entries, fc.constantFrom(...DIALECTS), fc.boolean(), (entry, dialect, expand) => {
        const config = { [dialect === "codex" ? "mcp_servers" : "servers"]: { bad: entry, good: { command: "c" } } };
        const { servers, problems } = readServers(config, {
          env: { A: CANARY },
          dialect,
          expand,
          readFile: fail,
          input: fail,
        });
        expect(servers.good).toEqual({ command: "c" });
        expect(JSON.stringify(problems)).not.toContain(CANARY);
        const failed = problems.some(({ severity }) => severity === "error");
        if (failed) expect(servers.bad?.disabled).toBe(true);
        for (const to of DIALECTS) expect(JSON.stringify(writeServers(servers, to).problems)).not.toContain(CANARY);
      }),
      { numRuns: 1000 },
    );
  });

  it("survives as a plain text in every notation that can hold it", () => {
    const text = fc.string({ unit: fc.constantFrom("$", "{", "}", "A", ":", "-", "x") });
    fc.assert(
      fc.property(text, fc.constantFrom(...DIALECTS), (plain, to) => {
        const codex = { mcp_servers: { a: { command: "c", args: [plain] } } };
        const { servers } = readServers(codex, { env: {}, expand: false });
        const { config, problems } = writeServers(servers, to);
        if (problems.length > 0) {
          expect(plain).toContain("${");
          return;
        }
        const read = readServers(config, { env: { A: "filled in" }, dialect: to });
        if (to !== "gemini") expect(read).toMatchObject({ servers: { a: { args: [plain] } }, problems: [] });
      }),
      { numRuns: 1000 },
    );
  });
});

function attempt(run: () => unknown): unknown {
  try {
    return { value: run() };
  } catch {
    return "refused";
  }
}
