import { createHash } from "node:crypto";
import { connect, McpError, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { SKILLS_EXTENSION, type Skill, skillsExtension } from "@parley/mcp/skills";
import { afterEach, describe, expect, it } from "vitest";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const URI = "skill://pdf/SKILL.md";
const FORMS = "skill://pdf/references/forms.md";
const MANIFEST = "---\nname: pdf\ndescription: Works\nmetadata: {version: '1.0', n: 1}\n---\nDo it.\n";

const sha = (text: string | Uint8Array) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const file = (uri: string, text: string) => ({ uri, digest: sha(text), size: Buffer.byteLength(text) });

const entry = (change: object = {}) => ({
  uri: URI,
  frontmatter: { name: "pdf", description: "Works", metadata: { n: 1, version: "1.0" } },
  resources: [file(URI, MANIFEST), file(FORMS, "forms")],
  ...change,
});

interface Lies {
  entry?: unknown;
  settings?: Record<string, unknown>;
  contents?: Readonly<Record<string, unknown>>;
  list?: object;
  directory?: object;
}

/** A server that says what it is told to say, and notes what is read. */
async function lying({ entry: told = entry(), settings = { directoryRead: true }, ...lies }: Lies) {
  const reads: string[] = [];
  const served = defineExtension({
    id: SKILLS_EXTENSION,
    settings,
    methods: ["skills/list", "skills/get", "resources/directory/read"].map((method) => ({
      method,
      kind: "request",
      sender: "client",
      first: "2024-11-05",
    })),
    server: () => ({
      handlers: {
        "skills/list": () => lies.list ?? { skills: [told] },
        "skills/get": () => ({ skill: told }),
        "resources/directory/read": () => lies.directory ?? { resources: [] },
      },
      around: {
        "resources/read": ({ request }) => {
          const uri = String(request.params["uri"]);
          reads.push(uri);
          const text = uri === URI ? MANIFEST : "forms";
          return { contents: lies.contents?.[uri] ?? [{ uri, text }] };
        },
      },
    }),
  });
  const warnings: string[] = [];
  const server = new Server({ name: "s", version: "1" }, { extensions: [served] }).resource("a://b", {}, () => "");
  const client = await connect(server, {
    extensions: [skillsExtension],
    onWarning: (warning) => void warnings.push(warning),
  });
  cleanups.push(() => client.close());
  return { skills: client.extension(skillsExtension), reads, warnings };
}

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

describe("a client of skills", () => {
  it("SEP-2640: reads nothing before it is asked to, and then verified files alone", async () => {
    const { skills, reads } = await lying({});
    const [listed] = await all(skills.list());
    expect(listed).toEqual(entry());
    expect(await skills.get(URI)).toEqual(entry());
    expect(reads).toEqual([]);
    const loaded = await skills.load(listed as Skill);
    expect(loaded).toMatchObject({ body: "Do it.\n", paths: ["SKILL.md", "references/forms.md"], entry: listed });
    expect(reads).toEqual([URI]);
    expect(await loaded.read("references/forms.md")).toMatchObject({
      text: "forms",
      path: "references/forms.md",
      uri: FORMS,
    });
    expect(await loaded.read("./references/forms.md")).toMatchObject({ text: "forms" });
    expect(await loaded.read(FORMS)).toMatchObject({ text: "forms" });
    expect((await all(loaded.readAll())).map(({ text }) => text)).toEqual([MANIFEST, "forms"]);
    expect((await skills.load(URI)).body).toBe("Do it.\n");
  });
});

const files = (...more: object[]) => ({ resources: [file(URI, MANIFEST), ...more] });

/** Entries that break a rule. */
const ENTRIES: readonly [string, unknown, RegExp][] = [
  ["nothing", null, /not an object/],
  ["a list", [], /not an object/],
  ["no URI", entry({ uri: undefined }), /no `uri`/],
  ["a URI that is no SKILL.md", entry({ uri: "skill://pdf/README.md" }), /not that of a `SKILL\.md`/],
  ["a URI without a directory", entry({ uri: "skill://SKILL.md" }), /not that of a `SKILL\.md`/],
  ["a URI with a way out", entry({ uri: "skill://a/../pdf/SKILL.md" }), /not that of a `SKILL\.md`/],
  ["a URI with an encoded way out", entry({ uri: "skill://a/%2e%2e/pdf/SKILL.md" }), /not that of a `SKILL\.md`/],
  ["a URI with a query", entry({ uri: "skill://pdf?x=/SKILL.md" }), /not that of a `SKILL\.md`/],
  ["no frontmatter", entry({ frontmatter: undefined }), /no frontmatter/],
  ["another name", entry({ frontmatter: { name: "doc", description: "x" } }), /differs from the name of its directory/],
  [
    "a name that no skill may have",
    entry({ uri: "skill://PDF/SKILL.md", frontmatter: { name: "PDF", description: "x" } }),
    /lowercase/,
  ],
  ["no description", entry({ frontmatter: { name: "pdf" } }), /no description/],
  ["an endless description", entry({ frontmatter: { name: "pdf", description: "x".repeat(5000) } }), /1024/],
  ["no files", entry({ resources: undefined }), /neither a list nor "dynamic"/],
  ["another word for files", entry({ resources: "later" }), /neither a list/],
  ["files without SKILL.md", entry({ resources: [file(FORMS, "forms")] }), /do not include/],
  ["an empty list of files", entry({ resources: [] }), /do not include/],
  ["a file without a URI", entry(files({})), /no `uri`/],
  ["a file of another skill", entry(files(file("skill://other/x.md", ""))), /is not in the skill's directory/],
  [
    "a file of a skill whose name begins alike",
    entry(files(file("skill://pdf-2/x.md", ""))),
    /is not in the skill's directory/,
  ],
  ["a file of another scheme", entry(files(file("file:///etc/passwd", ""))), /is not in the skill's directory/],
  ["a way out", entry(files(file("skill://pdf/../x.md", ""))), /is not in the skill's directory/],
  [
    "a way out that goes down first",
    entry(files(file("skill://pdf/a/../../x.md", ""))),
    /is not in the skill's directory/,
  ],
  ["an encoded way out", entry(files(file("skill://pdf/%2e%2e/x.md", ""))), /is not in the skill's directory/],
  ["a mixed way out", entry(files(file("skill://pdf/.%2E/x.md", ""))), /is not in the skill's directory/],
  ["an encoded slash", entry(files(file("skill://pdf/..%2fx.md", ""))), /is not in the skill's directory/],
  [
    "a way out that is encoded twice",
    entry(files(file("skill://pdf/%252e%252e/x.md", ""))),
    /is not in the skill's directory/,
  ],
  ["a backslash", entry(files(file("skill://pdf/..\\x.md", ""))), /is not in the skill's directory/],
  ["an encoded NUL", entry(files(file("skill://pdf/x%00.md", ""))), /is not in the skill's directory/],
  ["a malformed escape", entry(files(file("skill://pdf/%zz", ""))), /is not in the skill's directory/],
  ["a query", entry(files(file("skill://pdf/x.md?y", ""))), /is not in the skill's directory/],
  ["an empty segment", entry(files(file("skill://pdf//x.md", ""))), /is not in the skill's directory/],
  ["the directory itself", entry(files(file("skill://pdf/", ""))), /is not in the skill's directory/],
  ["a drive", entry(files(file("skill://pdf/C:/x", ""))), /is not in the skill's directory/],
  ["one file twice", entry(files(file(FORMS, ""), file(FORMS, ""))), /listed twice/],
  ["one file in two spellings", entry(files(file(FORMS, ""), file("skill://pdf/references/%66orms.md", ""))), /twice/],
  [
    "one file in two normal forms",
    entry(files(file("skill://pdf/%C3%A9", ""), file("skill://pdf/e%CC%81", ""))),
    /twice/,
  ],
  ["a second SKILL.md in other case", entry(files(file("skill://pdf/skill.md", ""))), /"SKILL\.md"/],
  ["paths in other case", entry(files(file("skill://pdf/a/x", ""), file("skill://pdf/A/y", ""))), /collides with "a"/],
  ["a letter that is folded", entry(files(file("skill://pdf/s", ""), file("skill://pdf/%C5%BF", ""))), /collides/],
  ["a character that is ignored", entry(files(file("skill://pdf/SK%E2%80%8CILL.md", ""))), /collides/],
  ["a file that is a folder too", entry(files(file("skill://pdf/a", ""), file("skill://pdf/a/b", ""))), /collides/],
  ["a folder that is a file too", entry(files(file("skill://pdf/a/b", ""), file("skill://pdf/a", ""))), /collides/],
  ["too many folders", entry(files(file(`skill://pdf/${"d/".repeat(16)}x`, ""))), /folders deep/],
  ["a SKILL.md in other case", entry({ uri: "skill://pdf/skill.md" }), /not that of a `SKILL\.md`/],
  ["no digest", entry(files({ uri: FORMS, size: 1 })), /digest/],
  ["a digest in capitals", entry(files({ uri: FORMS, size: 1, digest: sha("x").toUpperCase() })), /digest/],
  ["another kind of digest", entry(files({ uri: FORMS, size: 1, digest: `md5:${"0".repeat(32)}` })), /digest/],
  ["no size", entry(files({ uri: FORMS, digest: sha("x") })), /size/],
  ["a negative size", entry(files({ uri: FORMS, digest: sha("x"), size: -1 })), /size/],
  ["half a byte", entry(files({ uri: FORMS, digest: sha("x"), size: 0.5 })), /size/],
  ["too many files", entry({ resources: Array.from({ length: 513 }, (_, n) => file(`skill://pdf/${n}`, "")) }), /512/],
  ["too many bytes", entry(files({ uri: FORMS, digest: sha("x"), size: 2 ** 24 })), /16777216/],
];

describe("a client of skills refuses an entry (SEP-2640) with", () => {
  it.each(ENTRIES)("%s", async (_what, told, message) => {
    const { skills, reads, warnings } = await lying({
      list: { skills: [told, entry({ uri: "skill://pdf/SKILL.md" })] },
      entry: told,
    });
    expect((await all(skills.list())).map(({ uri }) => uri)).toEqual([URI]);
    expect(warnings.join("\n")).toMatch(message);
    await expect(skills.get(URI)).rejects.toMatchObject({
      kind: "invalid_response",
      message: expect.stringMatching(message),
    });
    await expect(skills.load(URI)).rejects.toMatchObject({ kind: "invalid_response" });
    await expect(skills.load(told as Skill)).rejects.toMatchObject({ kind: "invalid_params" });
    expect(reads).toEqual([]);
  });

  it("the URI of another skill", async () => {
    const { skills } = await lying({});
    await expect(skills.get("skill://other/SKILL.md")).rejects.toThrow(/another skill/);
  });
});

const inFile = (text: string, frontmatter: object): Lies => ({
  entry: entry({ frontmatter, resources: [file(URI, text), file(FORMS, "forms")] }),
  contents: { [URI]: [{ uri: URI, text }] },
});
const head = (more: string) => `---\nname: pdf\ndescription: Works\n${more}---\n`;
const stated = { name: "pdf", description: "Works" };

/** Contents of SKILL.md that are not what the entry says. */
const CONTENTS: readonly [string, Lies, RegExp][] = [
  ["another digest", { contents: { [URI]: [{ uri: URI, text: MANIFEST.replace("Do", "No") }] } }, /digest/],
  ["a longer file", { contents: { [URI]: [{ uri: URI, text: `${MANIFEST}!` }] } }, /bytes/],
  ["a shorter file", { contents: { [URI]: [{ uri: URI, text: "" }] } }, /bytes/],
  ["a lone surrogate", { contents: { [URI]: [{ uri: URI, text: `${MANIFEST.slice(0, -3)}\ud800` }] } }, /digest|bytes/],
  ["nothing", { contents: { [URI]: [] } }, /exactly this file/],
  [
    "two files",
    {
      contents: {
        [URI]: [
          { uri: URI, text: MANIFEST },
          { uri: FORMS, text: "x" },
        ],
      },
    },
    /exactly this file/,
  ],
  ["another file", { contents: { [URI]: [{ uri: FORMS, text: MANIFEST }] } }, /exactly this file/],
  ["no content", { contents: { [URI]: [{ uri: URI }] } }, /exactly this file/],
  ["no Base64", { contents: { [URI]: [{ uri: URI, blob: "%%%" }] } }, /Base64/],
  ["bytes that are no text", blob(Uint8Array.of(45, 45, 45, 10, 255)), /UTF-8/],
  ["another description", inFile(head(""), { ...stated, description: "Harmless" }), /"description"/],
  ["a field that the entry hides", inFile(head("allowed-tools: Bash\n"), stated), /"allowed-tools"/],
  ["a field that only the entry has", inFile(head(""), { ...stated, license: "MIT" }), /"license"/],
  [
    "a nested difference",
    inFile(head("metadata:\n  a: [1, 2]\n"), { ...stated, metadata: { a: [1, 3] } }),
    /"metadata"/,
  ],
  ["a longer list", inFile(head("x: [1]\n"), { ...stated, x: [1, 2] }), /"x"/],
  ["another type", inFile(head("x: '1'\n"), { ...stated, x: 1 }), /"x"/],
  ["a field of the prototype", inFile(head("__proto__: {a: 1}\n"), stated), /"__proto__"/],
  ["no frontmatter", inFile("Do it.", stated), /line 1/],
  ["frontmatter that cannot be read", inFile(head("x: &a 1\ny: *a\n"), { ...stated, x: 1, y: 1 }), /line 4: anchors/],
  ["a key twice", inFile(head("description: Evil\n"), stated), /twice/],
];

function blob(bytes: Uint8Array): Lies {
  const listed = { uri: URI, digest: sha(bytes), size: bytes.length };
  return {
    entry: entry({ resources: [listed] }),
    contents: { [URI]: [{ uri: URI, blob: Buffer.from(bytes).toString("base64") }] },
  };
}

describe("a client of skills hands out nothing of a SKILL.md (SEP-2640) with", () => {
  it.each(CONTENTS)("%s", async (_what, lies, message) => {
    const { skills, reads } = await lying(lies);
    const [listed] = await all(skills.list());
    await expect(skills.load(listed as Skill)).rejects.toMatchObject({
      kind: "invalid_response",
      message: expect.stringMatching(message),
      fix: expect.stringMatching(/entry again/),
    });
    expect(reads).toEqual([URI]);
  });
});

describe("a client of skills, once a skill is loaded (SEP-2640),", () => {
  it("refuses files that were changed or that the entry does not list", async () => {
    const { skills, reads } = await lying({ contents: { [FORMS]: [{ uri: FORMS, text: "evil!" }] } });
    const loaded = await skills.load(URI);
    await expect(loaded.read("references/forms.md")).rejects.toMatchObject({ kind: "invalid_response" });
    await expect(all(loaded.readAll())).rejects.toMatchObject({ kind: "invalid_response" });
    reads.length = 0;
    for (const path of [
      "x.md",
      "../x.md",
      "references",
      "",
      "/SKILL.md",
      "skill://other/SKILL.md",
      "references/../SKILL.md",
      "skill://pdf/%2e%2e/x",
    ])
      await expect(loaded.read(path), path).rejects.toMatchObject({ kind: "invalid_params" });
    expect(reads).toEqual([]);
  });

  it("keeps to its entry, whatever becomes of the object that it was given", async () => {
    const { skills } = await lying({});
    const given = entry() as Skill;
    const loaded = await skills.load(given);
    if (given.resources !== "dynamic") given.resources.push(file("skill://pdf/new.md", "forms"));
    await expect(loaded.read("new.md")).rejects.toMatchObject({ kind: "invalid_params" });
  });

  it("loads a dynamic skill only if it may, compares its frontmatter, and bounds what is read", async () => {
    const dynamic = entry({ resources: "dynamic" });
    const { skills, reads } = await lying({
      entry: dynamic,
      contents: { [FORMS]: [{ uri: FORMS, text: "x".repeat(9e6) }] },
    });
    await expect(skills.load(URI)).rejects.toThrow(/is dynamic/);
    expect(reads).toEqual([]);
    const loaded = await skills.load(URI, { dynamic: true });
    expect(loaded.paths).toEqual(["SKILL.md"]);
    expect((await loaded.read("references/forms.md")).bytes).toHaveLength(9e6);
    const more = await loaded.read("references/forms.md").then(({ path }) => path, McpError.from);
    expect(more).toMatchObject({ kind: "limit_exceeded" });
    await expect(loaded.read("../x")).rejects.toMatchObject({ kind: "invalid_params" });
    const other = await lying({ entry: { ...dynamic, frontmatter: { ...stated, description: "Harmless" } } });
    await expect(other.skills.load(URI, { dynamic: true })).rejects.toMatchObject({ kind: "invalid_response" });
  });
});

describe("a client of skills (SEP-2640)", () => {
  it("calls nothing that the server does not declare", async () => {
    const { skills } = await lying({ settings: {} });
    await expect(all(skills.directory("skill://pdf"))).rejects.toMatchObject({ kind: "capability_missing" });
    const client = await connect(new Server({ name: "s", version: "1" }), { extensions: [skillsExtension] });
    cleanups.push(() => client.close());
    const none = client.extension(skillsExtension);
    await expect(all(none.list())).rejects.toMatchObject({ kind: "capability_missing" });
    await expect(none.get(URI)).rejects.toMatchObject({ kind: "capability_missing" });
  });

  it("leaves out of a directory what is no child of it", async () => {
    const child = (uri: unknown) => ({ uri, name: "x" });
    const uris = [
      "skill://pdf/a",
      "skill://pdf/a/b",
      "skill://pdf",
      "skill://pdf/",
      "skill://pdf/..",
      "skill://pdf/%2e%2E",
      "skill://pdf/a%2fb",
      "skill://other/a",
      "file:///a",
      5,
    ];
    const { skills, warnings } = await lying({
      directory: { resources: [...uris.map(child), null, { uri: "skill://pdf/b" }] },
    });
    expect((await all(skills.directory("skill://pdf"))).map(({ uri }) => uri)).toEqual(["skill://pdf/a"]);
    expect(warnings).toEqual([expect.stringContaining("skill://pdf/a/b, skill://pdf")]);
    expect(warnings[0]).toMatch(/and 6 more$/);
  });

  it.each([[{}], [{ skills: "x" }], [{ skills: null }]])("refuses the list %j", async (list) => {
    const { skills } = await lying({ list });
    await expect(all(skills.list())).rejects.toMatchObject({ kind: "invalid_response" });
  });

  it("ends a list whose cursor comes again", async () => {
    const { skills } = await lying({ list: { skills: [], nextCursor: "again" } });
    await expect(all(skills.list())).rejects.toMatchObject({ kind: "limit_exceeded" });
  });
});
