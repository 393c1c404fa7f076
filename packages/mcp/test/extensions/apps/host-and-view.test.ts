import { type AppServer, type ShowAppOptions, type ShownApp, sandboxPage } from "@parley/mcp/apps";
import { describe, expect, it } from "vitest";
import { windowPair } from "./window-pair.js";

const soon = () => new Promise((resolve) => setTimeout(resolve, 30));
const result = { content: [{ type: "text" as const, text: "called" }] };

/** A server that notes the calls of its tool. */
function noting(calls: unknown[], more: Partial<AppServer> = {}): Partial<ShowAppOptions> {
  const server: AppServer = {
    async *tools() {
      yield { name: "t", inputSchema: { type: "object" } };
    },
    callTool: async (name) => {
      calls.push(name);
      return result;
    },
    readResource: async () => ({ contents: [] }),
    ...more,
  };
  return { server, mayCallTool: () => true };
}

describe("a host", () => {
  /** What cannot be cloned, for each function that sends. */
  const broken = { f: () => 1 };
  const tellings: [string, string, (app: ShownApp, value: never) => void][] = [
    ["toolInputPartial", "args", (app, value) => app.toolInputPartial(value)],
    ["toolInput", "args", (app, value) => app.toolInput(value)],
    [
      "toolResult",
      "result",
      (app, value) => {
        if (value === (broken as never)) app.toolInput({});
        app.toolResult(value);
      },
    ],
    ["toolCancelled", "reason", (app, value) => app.toolCancelled(value)],
    ["changeContext", "change", (app, value) => app.changeContext(value)],
  ];

  it.each(tellings)(
    "APP-07: is told by %s that it cannot be sent, early or late, and may try again",
    async (name, what, tell) => {
      const refused = expect.objectContaining({
        kind: "misuse",
        message: expect.stringContaining(`\`${what}\` of ${name} cannot be sent to the app`),
      });
      const early = await windowPair({}, {}, (app) => {
        expect(() => tell(app, broken as never)).toThrow(refused);
        tell(app, {} as never);
      });
      await early.app.close();
      const late = await windowPair();
      expect(() => tell(late.app, broken as never)).toThrow(refused);
      tell(late.app, {} as never);
      await late.app.close();
    },
  );

  it.each(["context", "tool", "hostInfo"] as const)("is refused a `%s` that cannot be sent", async (option) => {
    await expect(windowPair({ [option]: broken as never })).rejects.toMatchObject({
      kind: "misuse",
      message: expect.stringContaining(`\`${option}\` of showApp`),
    });
  });

  it("sends what it was given, and not what became of it", async () => {
    const args = { city: "Oslo" };
    const { sent, app } = await windowPair({}, {}, (early) => {
      early.toolInput(args);
      args.city = "Rome";
    });
    expect(sent).toContainEqual(expect.objectContaining({ params: { arguments: { city: "Oslo" } } }));
    await app.close();
  });

  it("takes deadlines that are longer than a timer", async () => {
    const longest = Number.MAX_SAFE_INTEGER;
    const calls: unknown[] = [];
    const { app, host } = await windowPair({ ...noting(calls), initializeMs: longest, requestMs: longest });
    expect(await host.callTool("t")).toEqual(result);
    await app.close();
  });

  it("closes when the sandbox says that the app is gone, and gives up what the app waited for", async () => {
    let signal: AbortSignal | undefined;
    const { app, host, send } = await windowPair({
      openLink: (_url, given) => {
        signal = given;
        return new Promise(() => {});
      },
    });
    host.openLink("https://example.com/").catch(() => {});
    await expect.poll(() => signal).toBeDefined();
    send({ jsonrpc: "2.0", method: "ui/notifications/sandbox-resource-gone", params: {} });
    expect(await app.closed).toBe("the app navigated away or rewrote its document");
    expect(signal?.aborted).toBe(true);
  });

  it("tells the size within its bounds", async () => {
    const sizes: unknown[] = [];
    const { app, send } = await windowPair(
      { context: { containerDimensions: { maxHeight: 300 } }, onSize: (size) => sizes.push(size) },
      { reportsSize: false },
    );
    send({ jsonrpc: "2.0", method: "ui/notifications/size-changed", params: { width: 1e9, height: 1e9 } });
    await expect.poll(() => sizes).toEqual([{ width: 10_000, height: 300 }]);
    await app.close();
  });

  it("does not tell the app a display mode that the app does not support", async () => {
    const { app, host } = await windowPair(
      {
        context: { availableDisplayModes: ["inline", "fullscreen", "pip"] },
        changeDisplayMode: () => "pip",
      },
      { displayModes: ["inline", "fullscreen"] },
    );
    expect(await host.requestDisplayMode("fullscreen")).toBe("inline");
    expect(host.context.displayMode).toBeUndefined();
    await app.close();
  });

  it("lists tools once for requests at the same time, and stops when all of them were given up", async () => {
    const signals: AbortSignal[] = [];
    let go = () => {};
    const calls: unknown[] = [];
    const waits = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { app, host } = await windowPair(
      noting(calls, {
        async *tools(options) {
          if (options !== undefined) signals.push(options.signal);
          await waits;
          yield { name: "t", inputSchema: { type: "object" } };
        },
      }),
    );
    const first = new AbortController();
    const second = new AbortController();
    const both = [first, second].map(({ signal }) =>
      host.callTool("t", {}, { signal }).catch(({ message }) => message),
    );
    await expect.poll(() => signals.length).toBe(1);
    first.abort();
    await soon();
    expect(signals[0]?.aborted).toBe(false);
    second.abort();
    await expect.poll(() => signals[0]?.aborted).toBe(true);
    expect(await Promise.all(both)).toEqual(["tools/call was cancelled", "tools/call was cancelled"]);
    const third = host.callTool("t");
    go();
    expect(await third).toEqual(result);
    expect([signals.length, calls]).toEqual([2, ["t"]]);
    await app.close();
  });
});

describe("a page", () => {
  it("does not send what was given up before, nor anything after it left", async () => {
    const calls: unknown[] = [];
    const logged: unknown[] = [];
    const { app, host } = await windowPair({ ...noting(calls), onLog: (message) => logged.push(message) });
    await expect(host.callTool("t", {}, { signal: AbortSignal.abort() })).rejects.toThrow("tools/call was cancelled");
    host.close();
    await expect(host.callTool("t")).rejects.toMatchObject({
      name: "HostError",
      message: "the connection to the host is closed",
    });
    host.log("info", "after");
    await soon();
    expect([calls, logged]).toEqual([[], []]);
    await app.close();
  });

  it.each([Number.POSITIVE_INFINITY, 2 ** 31])("waits when it may wait for %d ms", async (timeoutMs) => {
    const { app, host } = await windowPair(noting([]), { timeoutMs });
    expect(await host.callTool("t")).toEqual(result);
    await app.close();
  });

  it("keeps nothing of a request that cannot be sent", async () => {
    const { app, host, sent, expire } = await windowPair(noting([]), { timeoutMs: 40 });
    const abort = new AbortController();
    await expect(host.callTool("t", broken(), { signal: abort.signal })).rejects.toMatchObject({
      name: "DataCloneError",
    });
    abort.abort();
    expire();
    expect(await host.callTool("t")).toEqual(result);
    expect(sent.filter((message) => (message as { error?: unknown }).error !== undefined)).toEqual([]);
    await app.close();
  });
});

const broken = () => ({ f: () => 1 });

describe("the page of a sandbox", () => {
  it.each(["http://[::1]:8080", "https://[2001:db8::1]"])("is not made for %s, which no policy can name", (host) => {
    expect(() => sandboxPage({ hosts: [host] })).toThrow(
      expect.objectContaining({ kind: "invalid_definition", fix: expect.stringContaining("IPv6") }),
    );
  });
});
