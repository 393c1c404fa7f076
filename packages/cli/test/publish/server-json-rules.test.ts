import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkServerJson } from "../../src/publish/server-json-rules.js";

const npm = { registryType: "npm", identifier: "notes", version: "1.0.0", transport: { type: "stdio" } };
const GOOD = { name: "io.github.ada/notes", description: "Keeps notes", version: "1.0.0", packages: [npm] };
const sha = "a".repeat(64);
const release = "https://github.com/ada/notes/releases/download/v1/notes.mcpb";
const pack = (changes: object) => ({ packages: [{ ...npm, ...changes }] });
const remote = (changes: object) => ({
  remotes: [{ type: "streamable-http", url: "https://example.com/mcp", ...changes }],
});
const codes = (changes: object) => checkServerJson({ ...GOOD, ...changes }).map(({ code }) => code);

describe("a server.json that the registry accepts", () => {
  it.each([
    {},
    { name: `com.example/${"a".repeat(188)}` },
    { description: "é".repeat(100) },
    { description: "😀".repeat(100), title: "Notes" },
    { version: "1.0.0-rc.1+5" },
    { repository: { url: "https://github.com/ada/notes", source: "github", subfolder: "packages/notes" } },
    { repository: { url: "https://gitlab.com/group/sub/notes", source: "gitlab" } },
    { icons: [{ src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48", "any"], theme: "dark" }] },
    pack({ transport: { type: "sse", url: "http://127.0.0.1:{PORT}/sse" }, environmentVariables: [{ name: "PORT" }] }),
    pack({
      packageArguments: [
        { type: "positional", valueHint: "folder" },
        { type: "named", name: "--port", value: "1" },
      ],
    }),
    pack({ registryType: "mcpb", identifier: release, fileSha256: sha }),
    remote({ url: "https://{tenant}.example.com/mcp", variables: { tenant: { isRequired: true } } }),
    remote({ headers: [{ name: "Authorization", isSecret: true, value: "Bearer {token}", variables: { token: {} } }] }),
    { _meta: { "io.modelcontextprotocol.registry/publisher-provided": { tool: "x" } } },
  ])("has no findings: %j", (changes) => {
    expect(checkServerJson({ ...GOOD, ...changes })).toEqual([]);
  });
});

describe("a server.json that the registry rejects", () => {
  const badNames = [
    "notes",
    "/notes",
    "ada/",
    "a/b/c",
    "io.github.ada /notes",
    "-a/notes",
    "io.github.ada/notes-",
    "io.github.ada/nötes",
  ];
  it.each([...badNames, `com.example/${"a".repeat(189)}`, "io.github.ada/<b>", "../../etc/passwd", ""])(
    "has a bad name: %j",
    (name) => {
      expect(codes({ name })).toEqual(["name-invalid"]);
    },
  );

  const ranges = [
    "^1.2.3",
    "~1.2.3",
    ">=1.2.3",
    "<=1.2.3",
    ">1.2.3",
    "<1.2.3",
    "=1.2.3",
    "1.x",
    "1.2.X",
    "1.2.*",
    "1 - 2",
    "1.2 || 1.3",
    "*",
    "latest",
  ];
  it.each(ranges)("names no single version: %s", (version) => {
    expect(codes({ version })).toEqual(["version-range"]);
    expect(codes(pack({ version }))).toEqual(["version-range"]);
  });

  it.each(["2025-06-18", "v1.0", "1"])("has a version without an order: %s", (version) => {
    expect(checkServerJson({ ...GOOD, version })).toMatchObject([{ code: "version-format", severity: "warning" }]);
  });

  it.each<[string, object]>([
    ["description-length", { description: "a".repeat(101) }],
    ["description-missing", { description: "" }],
    ["title-length", { title: "a".repeat(101) }],
    ["member-invalid", { title: "  " }],
    ["member-invalid", { description: 5 }],
    ["version-missing", { version: undefined }],
    ["member-invalid", { version: "" }],
    ["member-invalid", { $schema: "server.schema.json" }],
    ["website-invalid", { websiteUrl: "http://example.com" }],
    ["website-invalid", { websiteUrl: "javascript:alert(1)" }],
    ["repository-invalid", { repository: { url: "https://example.com/x", source: "github" } }],
    ["repository-invalid", { repository: { url: "https://github.com/a/b", source: "github", subfolder: "../x" } }],
    ["member-invalid", { repository: "github:a/b" }],
    ["icon-invalid", { icons: [{ src: "http://example.com/i.png" }] }],
    ["icon-invalid", { icons: [{ src: `https://example.com/${"a".repeat(255)}` }] }],
    ["icon-invalid", { icons: [{ src: "https://example.com/i", mimeType: "text/html" }] }],
    ["member-invalid", { packages: {} }],
    ["member-invalid", { remotes: ["https://example.com/mcp"] }],
    ["package-invalid", pack({ identifier: "a b" })],
    ["package-invalid", pack({ registryType: undefined })],
    ["package-version-missing", pack({ version: undefined })],
    ["package-registry", pack({ registryBaseUrl: "https://example.com" })],
    ["member-old", pack({ environment_variables: [] })],
    ["member-invalid", pack({ fileSha256: "A".repeat(64) })],
    ["mcpb-hash-missing", pack({ registryType: "mcpb", identifier: release })],
    ["mcpb-url-invalid", pack({ registryType: "mcpb", identifier: release.replace("https", "http"), fileSha256: sha })],
    ["mcpb-url-invalid", pack({ registryType: "mcpb", identifier: "https://github.com/a.zip", fileSha256: sha })],
    ["mcpb-url-host", pack({ registryType: "mcpb", identifier: "https://example.com/a.mcpb", fileSha256: sha })],
    ["transport-invalid", pack({ transport: undefined })],
    ["transport-invalid", pack({ transport: { type: "stdio", url: "http://127.0.0.1" } })],
    ["transport-invalid", pack({ transport: { type: "streamable-http" } })],
    ["transport-invalid", pack({ transport: { type: "websocket", url: "ws://127.0.0.1" } })],
    ["url-variable", pack({ transport: { type: "streamable-http", url: "http://127.0.0.1:{PORT}/mcp" } })],
    ["input-invalid", pack({ environmentVariables: [{ description: "no name" }] })],
    ["input-invalid", pack({ environmentVariables: [{ name: "A B" }] })],
    ["input-invalid", pack({ environmentVariables: [{ name: "A", format: "date" }] })],
    ["secret-value", pack({ environmentVariables: [{ name: "A", isSecret: true, default: "hunter2" }] })],
    ["secret-value", remote({ headers: [{ name: "X-Key", isSecret: true, value: "hunter2" }] })],
    ["argument-invalid", pack({ packageArguments: [{ type: "positional" }] })],
    ["argument-invalid", pack({ packageArguments: [{ type: "named", name: "--port 80" }] })],
    ["argument-invalid", pack({ runtimeArguments: [{ type: "named", name: "--port", value: "--port 80" }] })],
    ["remote-invalid", remote({ url: "http://example.com/mcp" })],
    ["remote-invalid", remote({ url: "https://localhost/mcp" })],
    ["remote-invalid", remote({ url: "https://127.0.0.1/mcp" })],
    ["remote-invalid", remote({ type: "stdio" })],
    ["url-variable", remote({ url: "https://{tenant}.example.com/mcp" })],
    ["meta-size", { _meta: { "io.modelcontextprotocol.registry/publisher-provided": { a: "a".repeat(4096) } } }],
    ["member-invalid", { _meta: { "io.modelcontextprotocol.registry/publisher-provided": "text" } }],
    ["meta-dropped", { _meta: { "com.example/x": {} } }],
  ])("gives %s: %j", (code, changes) => {
    const findings = checkServerJson({ ...GOOD, ...changes });
    expect(findings.map((finding) => finding.code)).toEqual([code]);
    for (const { place, message, fix } of findings) {
      expect(place).toMatch(/^server\.json \S/);
      expect(message).not.toBe("");
      expect(fix).toMatch(/^[A-Z].*\.$/s);
    }
  });
});

describe("a member of the wrong type", () => {
  const inputs = [
    { name: "A", value: "a", isRequired: true, format: "string", choices: ["a"], variables: { b: { default: "b" } } },
  ];
  const full = {
    $schema: "https://example.com/schema.json",
    ...GOOD,
    title: "Notes",
    websiteUrl: "https://example.com",
    repository: { url: "https://github.com/ada/notes", source: "github", subfolder: "notes", id: "1" },
    icons: [{ src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }],
    packages: [
      {
        ...npm,
        runtimeHint: "npx",
        environmentVariables: inputs,
        packageArguments: [{ type: "positional", valueHint: "folder", isRepeated: false }],
        runtimeArguments: [{ type: "named", name: "--port", value: "1" }],
      },
    ],
    remotes: [{ type: "sse", url: "https://example.com/{a}", headers: inputs, variables: { a: { description: "A" } } }],
    _meta: { "io.modelcontextprotocol.registry/publisher-provided": {} },
  };

  /** Every member and item of a value, by its path. */
  const pathsOf = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
    typeof value !== "object" || value === null
      ? [path]
      : [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];

  function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
    if (key === undefined) return by;
    const copy = structuredClone(value) as Record<string, unknown>;
    copy[key] = replaced(copy[key], rest, by);
    return copy;
  }

  it("is reported wherever it is", () => {
    expect(checkServerJson(full)).toEqual([]);
    const paths = pathsOf(full).slice(1);
    expect(paths.length).toBeGreaterThan(60);
    const missed = paths.flatMap((path) => {
      const own = path.reduce((value: unknown, key) => (value as Record<string, unknown>)[key], full);
      const wrong = [null, 1, true, "text", [], [1], {}].filter(
        (value) => typeof value !== typeof own || Array.isArray(value) !== Array.isArray(own),
      );
      return wrong
        .map(
          (value) =>
            [path.join("."), value, checkServerJson(replaced(full, path, value) as typeof full).length] as const,
        )
        .filter(([, , count]) => count === 0);
    });
    expect(missed).toEqual([]);
  });
});

it("every code of the command is on its page", () => {
  const sources = new URL("../../src/publish/", import.meta.url);
  const page = readFileSync(new URL("../../../../docs/cli-publish.md", import.meta.url), "utf8");
  const text = readdirSync(sources)
    .map((name) => readFileSync(new URL(name, sources), "utf8"))
    .join("\n");
  const found = [...text.matchAll(/\bcode: "([a-z-]+)"/g)].map(([, code = ""]) => code);
  // These two are composed.
  const all = new Set([...found, "title-length", "description-length"]);
  expect(all.size).toBeGreaterThan(35);
  expect([...all].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
