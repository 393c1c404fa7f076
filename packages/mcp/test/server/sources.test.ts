import {
  type Client,
  connect,
  type FoundOffer,
  McpError,
  type Offer,
  type OfferItems,
  type OfferKind,
  type OfferList,
  prompt,
  resource,
  resourceTemplate,
  Server,
  type ServerOptions,
  type Source,
  type SourceCall,
  tool,
} from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";

const INFO = { name: "t", version: "1" };
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Entry = OfferItems[OfferKind] | Offer;

/** A source that lists these offers and finds the values among them. */
function listing(lists: Partial<Record<OfferKind, readonly Entry[]>>, more: Partial<Source> = {}): Source {
  const has = (...kinds: OfferKind[]) => kinds.some((kind) => lists[kind] !== undefined);
  return {
    capabilities: () => ({
      ...(has("tools") && { tools: {} }),
      ...(has("prompts") && { prompts: {} }),
      ...(has("resources", "resourceTemplates") && { resources: {} }),
    }),
    list: (kind) => lists[kind] ?? [],
    ...more,
  };
}

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
const entry = (name: string) => ({ name, inputSchema: { type: "object" as const } });
const found = (name: string, value = name): FoundOffer => ({ item: entry(name), run: () => text(value) });
const add = tool(
  "add",
  { input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] } },
  ({ a, b }) => String(a + b),
);

/** What a call failed with. */
async function failure(work: Promise<unknown>): Promise<McpError> {
  const error: unknown = await work.then(
    (value) => value,
    (thrown: unknown) => thrown,
  );
  if (McpError.is(error)) return error;
  throw new Error(`expected an McpError, got ${JSON.stringify(error)}`);
}

const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);

describe.each(["2025-11-25", "2026-07-28"] as const)("a source, in %s", (revision) => {
  const warnings: string[] = [];
  afterEach(() => void warnings.splice(0));

  async function client(server: Server<object>): Promise<Client> {
    const made = await connect(server, { revisions: [revision] });
    open.push(() => made.close());
    return made as Client;
  }
  const serving = (sources: readonly Source[], options: ServerOptions = {}) => {
    const server = new Server(INFO, { sources, onError: (error) => warnings.push(String(error)), ...options });
    open.push(() => server.close());
    return server;
  };
  const connected = (sources: readonly Source[], options: ServerOptions = {}) => client(serving(sources, options));

  it("lists values, and runs them with their checks like the server's own", async () => {
    const one = await connected([listing({ tools: [add] })]);
    expect(names(await one.allTools())).toEqual(["add"]);
    expect((await one.callTool("add", { a: 1, b: 2 })).content).toEqual([{ type: "text", text: "3" }]);
    const refused = await one.callTool("add", { a: "x", b: 2 });
    expect([refused.isError, JSON.stringify(refused.content)]).toEqual([true, expect.stringMatching(/number/)]);
    expect((await failure(one.callTool("sub"))).message).toContain("unknown tool: sub");
  });

  it("lists entries as they are sent, and runs what `find` returns", async () => {
    const seen: [OfferKind, string][] = [];
    const source = listing(
      { tools: [entry("echo")] },
      {
        find(kind, name) {
          seen.push([kind, name]);
          if (name !== "echo") return undefined;
          return { item: entry("echo"), run: ({ request }) => text(JSON.stringify(request.params["arguments"])) };
        },
      },
    );
    const one = await connected([source]);
    expect((await one.callTool("echo", { x: 1 })).content).toEqual([{ type: "text", text: '{"x":1}' }]);
    expect((await failure(one.callTool("other"))).kind).toBe("invalid_params");
    expect(seen).toEqual([
      ["tools", "echo"],
      ["tools", "other"],
    ]);
  });

  it("finds entries of a class, whose members are on its prototype", async () => {
    class Row {
      readonly #id: string;
      constructor(id: string) {
        this.#id = id;
      }
      get item() {
        return { uri: this.#id, name: "row" };
      }
      run() {
        return { contents: [{ uri: this.#id, text: "a row" }] };
      }
    }
    class Rows implements Source {
      readonly #rows = ["row:1"];
      capabilities() {
        return { resources: {} };
      }
      list(kind: OfferKind) {
        return kind === "resources" ? this.#rows.map((id) => new Row(id).item) : [];
      }
      find(kind: OfferKind, uri: string) {
        return kind === "resources" && this.#rows.includes(uri) ? new Row(uri) : undefined;
      }
    }
    const one = await connected([new Rows()]);
    expect(names(await one.allResources())).toEqual(["row"]);
    expect(await one.readResource("row:1")).toMatchObject({ contents: [{ uri: "row:1", text: "a row" }] });
  });

  it("reads resources beyond its list", async () => {
    const source = listing(
      { resources: [{ uri: "n:1", name: "one" }] },
      {
        find: async (kind, uri) =>
          kind === "resources" && /^n:\d+$/.test(uri)
            ? { run: () => ({ contents: [{ uri, text: uri.slice(2) }] }) }
            : undefined,
      },
    );
    const one = await connected([source]);
    expect(names(await one.allResources())).toEqual(["one"]);
    expect(await one.readResource("n:77")).toMatchObject({ contents: [{ uri: "n:77", text: "77" }] });
    expect((await failure(one.readResource("n:x"))).kind).toBe("resource_not_found");
  });

  it("offers resources, templates and prompts as values, and completes their arguments", async () => {
    const page = resourceTemplate("page:{id}", { complete: { id: ["alpha", "beta"] } }, ({ id }) => `page ${id}`);
    const hello = prompt("hello", { arguments: { who: { complete: ["Ann", "Bob"] } } }, ({ who }) => `Hello ${who}`);
    const source = listing({
      resources: [resource("page:first", {}, () => "the first")],
      resourceTemplates: [page],
      prompts: [hello],
    });
    const completing = { ...source, capabilities: () => ({ resources: {}, prompts: {}, completions: {} }) };
    const one = await connected([completing]);
    expect(await one.readResource("page:first")).toMatchObject({ contents: [{ text: "the first" }] });
    expect(await one.readResource("page:x")).toMatchObject({ contents: [{ text: "page x" }] });
    expect((await failure(one.readResource("book:x"))).kind).toBe("resource_not_found");
    expect((await one.getPrompt("hello", { who: "Eve" })).messages).toHaveLength(1);
    const completed = async (ref: object, name: string) =>
      (await one.request("completion/complete", { ref, argument: { name, value: "b" } } as never)) as object;
    expect(await completed({ type: "ref/prompt", name: "hello" }, "who")).toMatchObject({
      completion: { values: ["Bob"] },
    });
    expect(await completed({ type: "ref/resource", uri: "page:{id}" }, "id")).toMatchObject({
      completion: { values: ["beta"] },
    });
  });

  it("returns a template from `find` for a URI that it matches", async () => {
    const page = resourceTemplate("page:{id}", {}, ({ id }) => `page ${id}`);
    const source = listing({ resources: [] }, { find: (kind) => (kind === "resources" ? page : undefined) });
    const one = await connected([source]);
    expect(await one.readResource("page:7")).toMatchObject({ contents: [{ uri: "page:7", text: "page 7" }] });
    expect((await failure(one.readResource("book:7"))).kind).toBe("resource_not_found");
  });

  it("has pages of its own, whose cursors are signed", async () => {
    const asked: (string | undefined)[] = [];
    const source = listing(
      { resources: [] },
      {
        page(kind, cursor) {
          if (kind !== "resources") return { items: [] };
          asked.push(cursor);
          const from = Number(cursor ?? 0);
          const items = [from, from + 1].map((id) => ({ uri: `row:${id}`, name: `${id}` }));
          return { items, next: from < 4 ? String(from + 2) : undefined };
        },
      },
    );
    const one = await connected([source]);
    expect(names(await one.allResources())).toEqual(["0", "1", "2", "3", "4", "5"]);
    expect(asked).toEqual([undefined, "2", "4"]);
    const refused = await failure(one.request("resources/list", { cursor: "2" }));
    expect([refused.kind, refused.message]).toEqual([
      "invalid_params",
      expect.stringContaining("was not issued by this server"),
    ]);
  });

  it("reads the whole list where another source has offers of the kind", async () => {
    const source = listing(
      { tools: [entry("a"), entry("b")] },
      { page: () => Promise.reject(new Error("not asked")), find: (_kind, name) => found(name) },
    );
    const server = serving([source], { pageSize: 2 }).tool("own", () => "own");
    const one = await client(server);
    expect(names(await one.allTools())).toEqual(["own", "a", "b"]);
  });

  it("joins its offers with the server's own and those of other sources; the first wins", async () => {
    const first = listing({ tools: [tool("own", {}, () => "first"), tool("same", {}, () => "first")] });
    const second = listing(
      { tools: [entry("same"), entry("last")] },
      { find: async (_kind, name) => (name === "same" || name === "last" ? found(name, "second") : undefined) },
    );
    const server = serving([first, second], { pageSize: 2 }).tool("own", () => "own");
    const one = await client(server);
    const page = await one.request("tools/list", {});
    expect(names(page.tools)).toEqual(["own", "same"]);
    expect(names(await one.allTools())).toEqual(["own", "same", "last"]);
    const said = async (name: string) => (await one.callTool(name)).content[0];
    expect(await said("own")).toMatchObject({ text: "own" });
    expect(await said("same")).toMatchObject({ text: "first" });
    expect(await said("last")).toMatchObject({ text: "second" });
  });

  it("hides values from callers by `visibleTo`", async () => {
    const source = listing({ tools: [tool("hidden", { visibleTo: () => false }, () => "no"), add] });
    const one = await connected([source]);
    expect(names(await one.allTools())).toEqual(["add"]);
    expect((await failure(one.callTool("hidden"))).message).toContain("unknown tool");
  });

  it("announces changes of its lists, also where it changes one array in place", async () => {
    const listeners = new Set<(kinds: readonly OfferKind[]) => void>();
    const tools: Entry[] = [add];
    const source = listing(
      { tools },
      {
        onChange(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    );
    const server = serving([source]);
    const one = await client(server);
    expect(one.serverCapabilities.tools).toEqual({ listChanged: true });
    expect(names(await one.allTools())).toEqual(["add"]);
    const subscription = await one.subscribe({ tools: true });
    const next = subscription[Symbol.asyncIterator]().next();
    tools.push(tool("more", {}, () => "more"));
    for (const listener of listeners) listener(["tools"]);
    expect((await next).done).toBe(false);
    expect(names(await one.allTools())).toEqual(["add", "more"]);
    expect(listeners.size).toBe(1);
    await server.close();
    expect(listeners.size).toBe(0);
  });

  it("has its resources watched for subscribers", async () => {
    let updated = () => {};
    const watched: string[] = [];
    const watch = (uri: string, tell: () => void) => {
      watched.push(`+${uri}`);
      updated = tell;
      return () => void watched.push(`-${uri}`);
    };
    const source = listing(
      { resources: [resource("r:a", {}, () => "a")] },
      { watchOf: (uri) => (uri === "r:a" ? watch : undefined) },
    );
    const one = await connected([source]);
    expect(one.serverCapabilities.resources).toMatchObject({ subscribe: true });
    const subscription = await one.subscribe("r:a");
    const changes = subscription[Symbol.asyncIterator]();
    expect(watched).toEqual(["+r:a"]);
    updated();
    expect((await changes.next()).value).toMatchObject({ uri: "r:a" });
    await subscription[Symbol.asyncDispose]();
    await expect.poll(() => watched).toEqual(["+r:a", "-r:a"]);
  });

  it("gives instructions where the server has none", async () => {
    const some = listing({ tools: [add] }, { instructions: () => undefined });
    const told = listing({ tools: [add] }, { instructions: () => "Add first." });
    expect((await connected([some, told])).instructions).toBe("Add first.");
    expect((await connected([told], { instructions: "Mine." })).instructions).toBe("Mine.");
  });

  it("gives hints for caches", async () => {
    const list: OfferList = { items: [{ uri: "r:a", name: "a" }], cache: { ttlMs: 7000, scope: "public" } };
    const source: Source = {
      capabilities: () => ({ resources: {} }),
      list: (kind) => (kind === "resources" ? list : []),
      find: (kind, uri) =>
        kind === "resources"
          ? { cache: { ttlMs: 9000, scope: "private" }, run: () => ({ contents: [{ uri, text: "a" }] }) }
          : undefined,
    };
    const one = await connected([source], { cache: { ttlMs: 60_000, scope: "public" } });
    const listed = await one.request("resources/list", {});
    const read = await one.request("resources/read", { uri: "r:a" });
    const hint = revision === "2026-07-28";
    expect(listed).toMatchObject(hint ? { ttlMs: 7000, cacheScope: "public" } : { resources: [{}] });
    expect(read).toMatchObject(hint ? { ttlMs: 9000, cacheScope: "private" } : { contents: [{}] });
  });

  it("is closed with the server", async () => {
    let closed = 0;
    const server = serving([listing({ tools: [add] }, { close: () => void closed++ })]);
    await server.close();
    await server.close();
    expect(closed).toBe(1);
  });

  it("demands scopes, which HTTP answers with a challenge", async () => {
    const source = listing(
      { tools: [tool("value", { scopes: ["write"] }, () => "no")] },
      {
        find: (_kind, name) =>
          name === "raw" ? { ...found("raw"), scopes: ["write"] } : tool("value", { scopes: ["write"] }, () => "no"),
      },
    );
    const handle = await serveHttp(serving([source]), {
      port: 0,
      authenticate: () => ({ key: "me", scopes: ["read"] }),
    });
    open.push(() => handle.close());
    const one = await connect(handle.url, { revisions: [revision] });
    open.push(() => one.close());
    for (const name of ["value", "raw"]) {
      const refused = await failure(one.callTool(name as never));
      expect([name, refused.kind]).toEqual([name, "insufficient_scope"]);
    }
  });

  describe("that fails", () => {
    const garbage: [title: string, source: Source, work: (one: Client) => Promise<unknown>, message: RegExp][] = [
      ["`list` throws", { ...listing({ tools: [] }), list: () => raise("boom") }, (one) => one.listTools(), /boom/],
      [
        "`list` rejects",
        { ...listing({ tools: [] }), list: () => Promise.reject(new Error("boom")) },
        (one) => one.listTools(),
        /`list` of `sources\[0\]` failed: boom/,
      ],
      [
        "`list` returns null",
        bad({ list: () => null }),
        (one) => one.listTools(),
        /`list` of .* returned null for tools/,
      ],
      ["`list` returns text", bad({ list: () => "x" }), (one) => one.listTools(), /returned a string for tools/],
      [
        "`list` has no items",
        bad({ list: () => ({}) }),
        (one) => one.listTools(),
        /an object without `items` for tools/,
      ],
      ["an entry is null", bad({ list: () => [null] }), (one) => one.listTools(), /returned null as entry 0 of tools/],
      ["an entry has no name", bad({ list: () => [{}] }), (one) => one.listTools(), /entry 0 of tools without `name`/],
      [
        "an entry has no schema",
        bad({ list: () => [{ name: "x" }] }),
        (one) => one.listTools(),
        /entry 0 of tools without `inputSchema`/,
      ],
      [
        "a value is of another kind",
        bad({ list: () => [prompt("p", {}, () => "p")] }),
        (one) => one.listTools(),
        /returned a prompt for tools/,
      ],
      [
        "a hint is none",
        bad({ list: () => ({ items: [], cache: { ttlMs: -1 } }) }),
        (one) => one.listTools(),
        /`ttlMs` of `cache` that `list` of `sources\[0\]` returned for tools is -1/,
      ],
      [
        "`page` returns null",
        bad({ page: () => null }),
        (one) => one.listTools(),
        /`page` of .* returned null for tools/,
      ],
      [
        "a cursor is no string",
        bad({ page: () => ({ items: [], next: 7 }) }),
        (one) => one.listTools(),
        /`next` for tools that is a number/,
      ],
      ["`find` throws", bad({ find: () => raise("boom") }), (one) => one.callTool("x"), /`find` of .* failed: boom/],
      ["`find` returns text", bad({ find: () => "x" }), (one) => one.callTool("x"), /returned a string for tools "x"/],
      ["`find` has no `run`", bad({ find: () => ({}) }), (one) => one.callTool("x"), /without `run` for tools "x"/],
      [
        "`scopes` are text",
        bad({ find: () => ({ scopes: "a", run: () => text("") }) }),
        (one) => one.callTool("x"),
        /`scopes` for tools "x" that are not a list/,
      ],
      [
        "`run` returns nothing",
        bad({ find: () => ({ run: () => undefined }) }),
        (one) => one.callTool("x"),
        /tools "x" whose `run` returned undefined/,
      ],
      [
        "`run` returns another result",
        bad({ find: () => ({ run: async () => ({ contents: [] }) }) }),
        (one) => one.callTool("x"),
        /tools "x" whose `run` returned an object without the required members/,
      ],
      [
        "it lists an entry that nothing finds",
        bad({ list: () => [entry("x")] }),
        (one) => one.callTool("x"),
        /lists the entry "x" of tools, but the source has no `find`/,
      ],
    ];

    it.each(garbage)(
      "%s: the error says what to change, and the server's own tools work",
      async (_title, source, work, message) => {
        const server = serving([source]);
        const one = await client(server);
        const error = await failure(work(one));
        expect([error.kind, error.message]).toEqual(["internal_error", expect.stringMatching(message)]);
        server.tool("own", () => "fine");
        expect((await one.callTool("own")).content).toMatchObject([{ text: "fine" }]);
      },
    );

    it("by a null from `find` has nothing under that name", async () => {
      const one = await connected([bad({ find: () => null })]);
      expect((await failure(one.callTool("x"))).message).toContain("unknown tool: x");
    });

    it("hides its texts from strangers, and is reported under its name", async () => {
      const source = bad({ list: () => raise("secret of the database") });
      const server = serving([source], { maskErrors: true });
      const error = await failure((await client(server)).listTools());
      expect(error.message).not.toContain("secret");
      expect(warnings).toEqual(["Error: `list` of `sources[0]` failed: secret of the database"]);
    });

    it("makes the joined list fail rather than look complete", async () => {
      const server = serving([listing({ tools: [add] }), bad({ list: () => raise("boom") })]).tool("own", () => "fine");
      const one = await client(server);
      expect((await failure(one.listTools())).message).toContain("`list` of `sources[1]` failed: boom");
      expect((await one.callTool("own")).content).toMatchObject([{ text: "fine" }]);
      expect((await one.callTool("add", { a: 1, b: 1 })).content).toMatchObject([{ text: "2" }]);
    });

    it("by hanging holds up only the calls that need it, and sees when they are cancelled", async () => {
      const aborted: Promise<void>[] = [];
      const hang = (_kind: OfferKind, call: SourceCall): Promise<never> => {
        const { signal } = call.ctx;
        aborted.push(new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })));
        return new Promise(() => {});
      };
      const server = serving([{ ...listing({ tools: [] }), list: hang }]).tool("own", () => "fine");
      const one = await client(server);
      const controller = new AbortController();
      const listed = failure(one.request("tools/list", {}, { signal: controller.signal }));
      await expect.poll(() => aborted.length).toBe(1);
      expect((await one.callTool("own")).content).toMatchObject([{ text: "fine" }]);
      controller.abort();
      expect((await listed).kind).toBe("cancelled");
      await aborted[0];
    });

    it("by an error that is meant for callers passes it on", async () => {
      const source = bad({ find: () => raise(new McpError("invalid_params", "no such table")) });
      const error = await failure((await connected([source])).callTool("x"));
      expect([error.kind, error.message]).toEqual(["invalid_params", expect.stringContaining("no such table")]);
    });

    it("by `watchOf` or `instructions` is reported, and works without them", async () => {
      const lines: string[] = [];
      const platform = { warn: (line: string) => void lines.push(line) } as never;
      const source = listing(
        { resources: [resource("r:a", {}, () => "a")] },
        { watchOf: () => raise("boom"), instructions: () => raise("boom") },
      );
      const one = await connected([source], { platform });
      const subscription = await one.subscribe("r:a");
      await subscription[Symbol.asyncDispose]();
      expect(lines).toContain("`instructions` of `sources[0]` failed: boom");
      expect(lines).toContain("`watchOf` of `sources[0]` failed: boom");
    });
  });
});

describe("a server", () => {
  const wrong: [title: string, sources: unknown, message: RegExp][] = [
    ["no array", listing({ tools: [] }), /`sources` of the server is not an array/],
    ["null", [null], /`sources\[0\]` is null, not a source/],
    ["an object without functions", [{}], /`sources\[0\]` has a `capabilities` that is undefined/],
    ["a `find` that is no function", [{ ...listing({}), find: 1 }], /`sources\[0\]` has a `find` that is a number/],
    ["no capabilities", [{ ...listing({}), capabilities: () => null }], /`capabilities` of .* returned null/],
    [
      "late capabilities",
      [{ ...listing({}), capabilities: async () => ({}) }],
      /`capabilities` of .* returned a promise/,
    ],
    [
      "failing capabilities",
      [{ ...listing({}), capabilities: () => raise("boom") }],
      /`capabilities` of .* failed: boom/,
    ],
    ["an endless `onChange`", [{ ...listing({}), onChange: () => {} }], /`onChange` of .* returned undefined/],
    ["a failing `onChange`", [{ ...listing({}), onChange: () => raise("boom") }], /`onChange` of .* failed: boom/],
  ];

  it.each(wrong)("refuses sources at once: %s", (_title, sources, message) => {
    const made = () => new Server(INFO, { sources: sources as Source[] });
    expect(made).toThrow(message);
    expect(made).toThrow(expect.objectContaining({ kind: "invalid_definition", fix: expect.any(String) }));
  });

  it("refuses changes of unknown kinds where they are told", () => {
    let tell: (kinds: never) => void = () => {};
    const onChange: Source["onChange"] = (listener) => {
      tell = listener;
      return () => {};
    };
    new Server(INFO, { sources: [listing({ tools: [] }, { onChange })] });
    expect(() => tell(["tool"] as never)).toThrow(/`onChange` of `sources\[0\]` called its listener with an array/);
    expect(() => tell(undefined as never)).toThrow(/Call the listener with|called its listener/);
  });
});

function raise(error: string | Error): never {
  throw typeof error === "string" ? new Error(error) : error;
}

/** A source of tools with members of wrong types. */
function bad(members: Record<string, (...args: never[]) => unknown>): Source {
  return { ...listing({ tools: [] }), ...members } as Source;
}
