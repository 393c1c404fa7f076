// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references that applications resolve
import { describe, expect, it } from "vitest";
import { installLinks, installMarkdown } from "../../src/publish/install-links.js";

const npm = { registryType: "npm", identifier: "@ada/notes", version: "1.2.3", transport: { type: "stdio" } };
const SECRET = "sk-very-secret-value";

function decoded(url: string) {
  const { searchParams } = new URL(url);
  const config = searchParams.get("config") ?? "";
  return {
    name: searchParams.get("name"),
    config: JSON.parse(config.startsWith("{") ? config : Buffer.from(config, "base64").toString()),
    inputs: JSON.parse(searchParams.get("inputs") ?? "[]"),
  };
}

describe("install links", () => {
  it("start the package of npm by its exact version, and ask for what is required", () => {
    const environmentVariables = [
      { name: "API_KEY", isRequired: true, isSecret: true, description: "The key" },
      { name: "MODE", value: "quiet" },
      { name: "OPTIONAL", default: "x" },
    ];
    const packageArguments = [{ type: "positional", value: "it's" }];
    const document = { name: "io.github.ada/notes", packages: [{ ...npm, environmentVariables, packageArguments }] };
    const [links, ...others] = installLinks(document);
    expect(others).toEqual([]);
    const args = ["-y", "@ada/notes@1.2.3", "it's"];
    expect(decoded(links?.cursorWeb ?? "")).toEqual({
      name: "notes",
      config: { command: "npx", args, env: { MODE: "quiet", API_KEY: "${env:API_KEY}" } },
      inputs: [],
    });
    expect(decoded(links?.vscodeWeb ?? "")).toEqual({
      name: "notes",
      config: { command: "npx", args, env: { MODE: "quiet", API_KEY: "${input:API_KEY}" } },
      inputs: [{ type: "promptString", id: "API_KEY", description: "The key", password: true }],
    });
    expect(links?.cursor).toBe(
      links?.cursorWeb.replace("https://cursor.com/en/install-mcp", "cursor://anysphere.cursor-deeplink/mcp/install"),
    );
    expect(JSON.parse(decodeURIComponent(links?.vscode.replace("vscode:mcp/install?", "") ?? ""))).toMatchObject({
      name: "notes",
      command: "npx",
      inputs: [{ id: "API_KEY" }],
    });
    expect(links?.claudeCode).toBe(
      `claude mcp add --env MODE=quiet --env API_KEY="$API_KEY" --transport stdio notes -- npx -y @ada/notes@1.2.3 'it'\\''s'`,
    );
  });

  it("connect to addresses, with headers as references", () => {
    const headers = [{ name: "X-Api-Key", isRequired: true, isSecret: true }];
    const remotes = [
      {
        type: "streamable-http",
        url: "https://{region}.example.com/mcp",
        variables: { region: { default: "eu" } },
        headers,
      },
      { type: "sse", url: "https://{tenant}.example.com/sse", variables: { tenant: { isRequired: true } } },
    ];
    const [links, ...others] = installLinks({ name: "com.example/notes", remotes });
    // The second address has a variable that only its user knows.
    expect(others).toEqual([]);
    expect(decoded(links?.cursorWeb ?? "").config).toEqual({
      url: "https://eu.example.com/mcp",
      headers: { "X-Api-Key": "${env:X_API_KEY}" },
    });
    expect(decoded(links?.vscodeWeb ?? "").config).toMatchObject({ type: "http", url: "https://eu.example.com/mcp" });
    expect(links?.claudeCode).toBe(
      'claude mcp add --transport http notes https://eu.example.com/mcp --header "X-Api-Key: $X_API_KEY"',
    );
  });

  it("never carry a secret", () => {
    const input = (name: string) => ({ name, isRequired: true, isSecret: true, value: SECRET, default: SECRET });
    const document = {
      name: "com.example/notes",
      packages: [{ ...npm, environmentVariables: [input("KEY")] }],
      remotes: [
        { type: "sse", url: "https://example.com/{key}", variables: { key: input("key") }, headers: [input("X-Key")] },
        { type: "sse", url: "https://example.com/", headers: [input("X-Key")] },
      ],
    };
    const text = JSON.stringify(installLinks(document)) + installMarkdown(document);
    expect(text).toContain("X-Key");
    for (const form of [SECRET, Buffer.from(SECRET).toString("base64").slice(0, 20)]) expect(text).not.toContain(form);
    for (const { cursorWeb, vscodeWeb } of installLinks(document))
      expect(JSON.stringify([decoded(cursorWeb), decoded(vscodeWeb)])).not.toContain(SECRET);
  });

  it("stay links whatever names and texts contain", () => {
    const hostile =
      '"><script>alert(1)</script>)](javascript:x) `${IFS}` $(rm -rf ~) ```\n# x <!-- /parley:install -->';
    const environmentVariables = [
      { name: "KEY", isRequired: true, description: hostile },
      { name: "A;rm -rf ~", isRequired: true },
    ];
    const document = {
      name: `com.example/${hostile}`,
      packages: [
        { ...npm, environmentVariables, packageArguments: [{ type: "positional", value: hostile }] },
        { registryType: "mcpb", identifier: `https://example.com/a).mcpb?${hostile}` },
        { registryType: "mcpb", identifier: "javascript:alert(1)" },
      ],
    };
    const markdown = installMarkdown(document);
    const [buttons = ""] = markdown.split("Claude Code:");
    const links = [...(buttons + markdown.slice(markdown.lastIndexOf("````"))).matchAll(/\]\((.*?)\)/g)].map(
      ([, url = ""]) => url,
    );
    // Two pictures with a link each, and one bundle.
    expect(links).toHaveLength(5);
    for (const url of links) expect(url).toMatch(/^https:\/\/[^\s()<>"'`]+$/);
    const [link] = installLinks(document);
    for (const url of [link?.cursor, link?.cursorWeb, link?.vscode, link?.vscodeWeb])
      expect(url).toMatch(/^[a-z]+:[^\s()<>"'`]+$/);
    // The block of the command is closed by a fence longer than any run of backticks in it.
    expect(markdown).toMatch(/^````sh\nclaude mcp add [\s\S]*\n````$/m);
    expect(link?.claudeCode).not.toContain("A;rm");
  });

  it("quote every word for a shell", async () => {
    const { execFileSync } = await import("node:child_process");
    const value = "$(echo no) `echo no` \"'\\ \n; echo no";
    const [link] = installLinks({
      name: "com.example/notes",
      packages: [{ ...npm, packageArguments: [{ type: "positional", value }] }],
    });
    const shown = execFileSync("sh", [
      "-c",
      `claude() { for word in "$@"; do last=$word; done; printf %s "$last"; }; ${link?.claudeCode}`,
    ]);
    expect(shown.toString()).toBe(value);
  });
});
