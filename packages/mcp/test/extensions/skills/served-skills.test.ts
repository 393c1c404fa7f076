import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connect, Server } from "@parley/mcp";
import { skill, skills } from "@parley/mcp/skills";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const info = { name: "s", version: "1" };
const PDF = "---\nname: pdf\ndescription: Works with PDF files\nlicense: MIT\n---\n\nRead references/forms.md.\n";

let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "parley-skills-"));
  write("pdf/SKILL.md", PDF);
  write("pdf/references/forms.md", "# Forms\n");
  write("pdf/assets/logo.png", new Uint8Array([137, 80, 78, 71, 0, 255]));
  write("pdf/my file.txt", "\ufefftext");
  write("pdf/.hidden", "no");
  write("mail/SKILL.md", "---\nname: mail\ndescription: Writes mail\n---\nBe short.");
  write("README.md", "not a skill");
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(place, path)), { recursive: true });
  writeFileSync(join(place, path), content);
}

const open = (...sources: Parameters<typeof skills>) =>
  connect(new Server(info, { extensions: [skills(...sources)], pageSize: 2 }));

describe("the skills of a folder", () => {
  it("SEP-2640: are listed with frontmatter, digests and sizes", async () => {
    await using client = await open(place);
    expect(client.serverCapabilities).toMatchObject({
      resources: {},
      extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
    });
    const { skills: listed } = await client.request("skills/list");
    expect(listed).toMatchObject([
      { uri: "skill://mail/SKILL.md", frontmatter: { name: "mail", description: "Writes mail" } },
      {
        uri: "skill://pdf/SKILL.md",
        frontmatter: { name: "pdf", description: "Works with PDF files", license: "MIT" },
        resources: [
          { uri: "skill://pdf/SKILL.md", size: PDF.length },
          { uri: "skill://pdf/assets/logo.png", size: 6 },
          { uri: "skill://pdf/my%20file.txt", size: 7 },
          {
            uri: "skill://pdf/references/forms.md",
            size: 8,
            digest: "sha256:111198a69a324efe68bb9dd7e0ca9cb2e50e1c374da3d383a7d3569824965082",
          },
        ],
      },
    ]);
  });

  it("SEP-2640: are resources, with the type and the bytes of their files", async () => {
    await using client = await open(place);
    const read = async (uri: string) => (await client.readResource(uri)).contents;
    expect(await read("skill://pdf/SKILL.md")).toEqual([
      { uri: "skill://pdf/SKILL.md", mimeType: "text/markdown", text: PDF },
    ]);
    expect(await read("skill://pdf/assets/logo.png")).toMatchObject([{ mimeType: "image/png", blob: "iVBORwD/" }]);
    expect(await read("skill://pdf/my%20file.txt")).toMatchObject([{ mimeType: "text/plain", text: "\ufefftext" }]);
    expect((await client.allResources()).map(({ uri, name, description }) => [uri, name, description])).toEqual([
      ["skill://mail/SKILL.md", "mail", "Writes mail"],
      ["skill://pdf/SKILL.md", "pdf", "Works with PDF files"],
    ]);
    for (const uri of ["skill://pdf/.hidden", "skill://pdf/none.md", "skill://none/SKILL.md", "skill://pdf"])
      await expect(read(uri), uri).rejects.toMatchObject({ kind: "resource_not_found" });
    await expect(read("skill://pdf/../README.md")).rejects.toThrow(/leads out of its folder/);
  });

  it("SEP-2640: are found by the URI of their SKILL.md alone", async () => {
    await using client = await open(place);
    const get = (uri: unknown) => client.request("skills/get", { uri });
    expect(await get("skill://mail/SKILL.md")).toMatchObject({ skill: { frontmatter: { name: "mail" } } });
    for (const uri of ["skill://none/SKILL.md", "skill://pdf", "skill://pdf/references/forms.md", 5, undefined])
      await expect(get(uri)).rejects.toMatchObject({ code: -32602 });
  });

  it("SEP-2640: have directories, page by page", async () => {
    await using client = await open(place);
    const read = (uri: string, cursor?: unknown) =>
      client.request("resources/directory/read", cursor === undefined ? { uri } : { uri, cursor });
    const first = await read("skill://pdf");
    expect(first["resources"]).toMatchObject([
      { uri: "skill://pdf/SKILL.md", name: "pdf", mimeType: "text/markdown" },
      { uri: "skill://pdf/assets", name: "assets", mimeType: "inode/directory" },
    ]);
    expect((await read("skill://pdf", first["nextCursor"]))["resources"]).toMatchObject([
      { uri: "skill://pdf/my%20file.txt", name: "my file.txt" },
      { uri: "skill://pdf/references", mimeType: "inode/directory" },
    ]);
    await expect(read("skill://mail", first["nextCursor"])).rejects.toMatchObject({ code: -32602 });
    for (const uri of ["skill://pdf/SKILL.md", "skill://pdf/", "skill://none", "skill://", "file:///etc"])
      await expect(read(uri), uri).rejects.toMatchObject({ code: -32602 });
  });

  it("SEP-2640: have no directories if `directoryRead` is false", async () => {
    await using client = await open(place, { directoryRead: false });
    expect(client.serverCapabilities.extensions).toEqual({ "io.modelcontextprotocol/skills": {} });
    await expect(client.request("resources/directory/read", { uri: "skill://pdf" })).rejects.toMatchObject({
      code: -32601,
    });
  });

  it("are what they were when the server was made, until they are read again", async () => {
    const extension = skills(place);
    const server = new Server(info, { extensions: [extension] });
    await using client = await connect(server, { revisions: ["2025-11-25"] });
    const body = async () => JSON.stringify((await client.readResource("skill://mail/SKILL.md")).contents);
    const names = async () =>
      ((await client.request("skills/list"))["skills"] as { uri: string }[]).map(({ uri }) => uri);
    const changed = new Promise((resolve) => client.on("notifications/resources/list_changed", resolve));
    write("mail/SKILL.md", "---\nname: mail\ndescription: Writes mail\n---\nBe long.");
    write("new/SKILL.md", "---\nname: new\ndescription: Is new\n---\n");
    rmSync(join(place, "pdf"), { recursive: true });
    expect(await body()).toContain("Be short.");
    extension.reload();
    await changed;
    expect(await body()).toContain("Be long.");
    expect(await names()).toEqual(["skill://mail/SKILL.md", "skill://new/SKILL.md"]);
    await expect(client.readResource("skill://pdf/SKILL.md")).rejects.toMatchObject({ kind: "resource_not_found" });
    write("new/SKILL.md", "broken");
    expect(() => extension.reload()).toThrow(/line 1/);
    expect(await names()).toContain("skill://new/SKILL.md");
    await server.close();
    write("new/SKILL.md", "---\nname: new\ndescription: Is new\n---\n");
    extension.reload();
  });
});

describe("the skills of a folder, further", () => {
  it("SEP-2640: have subscribers, who hear of files that were read again and differ", async () => {
    const extension = skills(join(place, "pdf"));
    await using client = await connect(new Server(info, { extensions: [extension] }));
    const changes = await client.subscribe("skill://pdf/references/forms.md");
    extension.reload();
    write("pdf/references/forms.md", "# New\n");
    extension.reload();
    for await (const { uri } of changes) {
      expect(uri).toBe("skill://pdf/references/forms.md");
      expect((await client.readResource(uri ?? "")).contents).toMatchObject([{ text: "# New\n" }]);
      break;
    }
  });

  it("SEP-2640: may lie in one another; the inner one is a part of the outer one", async () => {
    write("pdf/inner/SKILL.md", "---\nname: inner\ndescription: Lies inside\n---\n");
    const uris = async (...sources: Parameters<typeof skills>) => {
      await using client = await open(...sources);
      return ((await client.request("skills/list"))["skills"] as { uri: string }[]).map(({ uri }) => uri);
    };
    expect(await uris(join(place, "pdf"))).toEqual(["skill://pdf/SKILL.md"]);
    expect(await uris(join(place, "pdf"), join(place, "pdf/inner"))).toEqual([
      "skill://pdf/SKILL.md",
      "skill://inner/SKILL.md",
    ]);
  });
});

describe("skills as values", () => {
  const value = skill({
    name: "pdf",
    description: 'Says "yes": no',
    body: "Read.\n",
    files: { "a/b.txt": "b", "c.bin": new Uint8Array([0, 1]) },
    frontmatter: { license: "MIT", metadata: { version: "1.0", tags: ["x", "null"] } },
  });

  it("have a SKILL.md that says what the entry says", async () => {
    await using client = await open(value);
    const { contents } = await client.readResource("skill://pdf/SKILL.md");
    expect(contents).toMatchObject([
      {
        text: '---\nname: pdf\ndescription: "Says \\"yes\\": no"\nlicense: MIT\nmetadata: {"version":"1.0","tags":["x","null"]}\n---\nRead.\n',
      },
    ]);
  });

  it("SEP-2640: are dynamic if one of their files is made when it is read", async () => {
    let reads = 0;
    await using client = await open(
      skill({ name: "now", description: "Tells", body: () => `read ${++reads}`, files: { "x.txt": async () => "x" } }),
    );
    expect(await client.request("skills/get", { uri: "skill://now/SKILL.md" })).toMatchObject({
      skill: { resources: "dynamic" },
    });
    for (const n of [1, 2])
      expect((await client.readResource("skill://now/SKILL.md")).contents).toMatchObject([
        { text: `---\nname: now\ndescription: Tells\n---\nread ${n}` },
      ]);
    expect((await client.readResource("skill://now/x.txt")).contents).toMatchObject([{ text: "x" }]);
  });

  it("are told how long they may be kept", async () => {
    await using client = await open(value, { cache: { ttlMs: 5000, scope: "public" } });
    const hint = { ttlMs: 5000, cacheScope: "public" };
    expect(await client.request("skills/list")).toMatchObject(hint);
    expect(await client.request("skills/get", { uri: "skill://pdf/SKILL.md" })).toMatchObject(hint);
    expect(await client.readResource("skill://pdf/a/b.txt")).toMatchObject(hint);
  });
});
