import { createHash } from "node:crypto";
import { connect, McpError, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { serveHttp } from "@parley/mcp/node";
import { SKILLS_EXTENSION, skill, skills, skillsExtension } from "@parley/mcp/skills";
import { afterEach, describe, expect, it } from "vitest";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const info = { name: "s", version: "1" };
const URI = "skill://a/SKILL.md";

async function loaded(url: string, maxMessageBytes?: number) {
  const client = await connect(url, { extensions: [skillsExtension], maxMessageBytes });
  cleanups.push(() => client.close());
  return client.extension(skillsExtension).load(URI, { dynamic: true });
}

async function serve(files: NonNullable<Parameters<typeof skill>[0]["files"]>): Promise<string> {
  const server = new Server(info, { extensions: [skills(skill({ name: "a", description: "d", body: "b", files }))] });
  const handle = await serveHttp(server, { port: 0 });
  cleanups.push(() => handle.close());
  return handle.url;
}

describe("a file of a skill that is longer than a message may be", () => {
  it.each<[string, string | Uint8Array, number | undefined]>([
    ["bytes", new Uint8Array(30_000).fill(255), 20_000],
    ["text with line breaks alone", "\n".repeat(30_000), 20_000],
    ["bytes of a valid skill at the default limit", new Uint8Array(13 * 1024 * 1024).fill(255), undefined],
  ])("fails with the limit that reads it: %s", async (_what, content, limit) => {
    const url = await serve({ "x.bin": content });
    const error = await (await loaded(url, limit)).read("x.bin").then(() => undefined, McpError.from);
    expect(error).toMatchObject({ kind: "oversized_frame", operation: { method: "resources/read" } });
    const [, needed] = /`maxMessageBytes: (\d+)`/.exec(error?.fix ?? "") ?? [];
    const file = await (await loaded(url, Number(needed))).read("x.bin");
    expect(file.bytes).toHaveLength(content.length);
  });

  it("fails with the limit of all files if the entry has no sizes", async () => {
    const url = await serve({ "x.txt": () => "x".repeat(30_000) });
    const error = await (await loaded(url, 20_000)).read("x.txt").then(() => undefined, McpError.from);
    expect(error).toMatchObject({ kind: "oversized_frame", fix: expect.stringMatching(/`maxMessageBytes: 336\d+`/) });
  });
});

describe("the text of a file of a skill", () => {
  const MANIFEST = "---\nname: a\ndescription: d\n---\nb";
  const sha = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

  it("SEP-2640: is what was hashed, not what the server wrote for it", async () => {
    const text = `${MANIFEST}\ufffd`;
    const entry = {
      uri: URI,
      frontmatter: { name: "a", description: "d" },
      resources: [{ uri: URI, digest: sha(text), size: Buffer.byteLength(text) }],
    };
    const lying = defineExtension({
      id: SKILLS_EXTENSION,
      settings: {},
      methods: [{ method: "skills/get", kind: "request", sender: "client", first: "2024-11-05" }],
      server: () => ({ handlers: { "skills/get": () => ({ skill: entry }) } }),
    });
    const server = new Server(info, { extensions: [lying] }).resource(URI, {}, () => `${MANIFEST}\ud800`);
    await using client = await connect(server, { extensions: [skillsExtension] });
    const read = await client.extension(skillsExtension).load(URI);
    expect(read.body).toBe("b\ufffd");
    expect((await read.read("SKILL.md")).text).toBe(text);
  });

  it("is served as it was hashed, with its byte order mark and NULs", async () => {
    const files = { "x.txt": "\ufeffx\ud800\0" };
    const server = new Server(info, { extensions: [skills(skill({ name: "a", description: "d", body: "b", files }))] });
    await using client = await connect(server, { extensions: [skillsExtension] });
    expect((await client.readResource("skill://a/x.txt")).contents).toMatchObject([{ text: "\ufeffx\ufffd\0" }]);
    const read = await client.extension(skillsExtension).load(URI);
    expect((await read.read("x.txt")).text).toBe("\ufeffx\ufffd\0");
  });
});
