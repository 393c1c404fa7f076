import { type Client, connect } from "@parley/mcp";
import { type AppPage, type AppToolCall, apps, type ShowAppOptions, type ShownApp, showApp } from "@parley/mcp/apps";
import type { CallToolResult } from "@parley/mcp/protocol";

// The page of a host, in a browser. A test calls its functions from outside, with values that JSON can hold.

/** What a test chooses of the options. */
export interface StageOptions
  extends Pick<
    ShowAppOptions,
    | "sandbox"
    | "context"
    | "permissions"
    | "allowLoopback"
    | "sameOrigin"
    | "limits"
    | "requestMs"
    | "initializeMs"
    | "teardownMs"
  > {
  /** The MCP server; the app gets no server if it is left out. */
  url?: string;
  /** Answers of the hooks; those left out say yes. `hang` never answers. */
  hooks?: Partial<
    Record<"call" | "read" | "link" | "message" | "context" | "mode", boolean | "hang" | "absent" | "throw">
  >;
}

/** What the host noted, in order: the name of a hook and what it got. */
const noted: [name: string, what: unknown][] = [];
let app: ShownApp;

function decide(
  options: StageOptions,
  name: keyof NonNullable<StageOptions["hooks"]>,
  what: unknown,
): Promise<boolean> {
  noted.push([name, what]);
  const answer = options.hooks?.[name] ?? true;
  if (answer === "throw") throw new Error("boom");
  return answer === "hang" ? new Promise(() => {}) : Promise.resolve(answer === true);
}

function optionsOf(options: StageOptions, client: Client | undefined): ShowAppOptions {
  const { url: _url, hooks = {}, ...rest } = options;
  const given = {
    mayCallTool: ({ tool, arguments: args }: AppToolCall) => decide(options, "call", [tool.name, args]),
    mayReadResource: (uri: string) => decide(options, "read", uri),
    openLink: (link: string) => decide(options, "link", link),
    sendMessage: (message: unknown) => decide(options, "message", message),
    updateModelContext: (context: unknown) => decide(options, "context", context),
    changeDisplayMode: async (mode: "inline" | "fullscreen" | "pip") =>
      (await decide(options, "mode", mode)) ? mode : "inline",
  };
  const absent: Record<string, keyof typeof given> = {
    call: "mayCallTool",
    read: "mayReadResource",
    link: "openLink",
    message: "sendMessage",
    context: "updateModelContext",
    mode: "changeDisplayMode",
  };
  for (const [name, answer] of Object.entries(hooks)) if (answer === "absent") delete given[absent[name] ?? "openLink"];
  return {
    ...rest,
    ...given,
    // Safe: the page has it.
    container: (globalThis as unknown as { document: { body: ShowAppOptions["container"] } }).document.body,
    hostInfo: { name: "stage", version: "1" },
    ...(client === undefined ? {} : { server: client }),
    onSize: (size) => noted.push(["size", size]),
    onLog: (message) => noted.push(["log", message]),
    onCloseRequested: () => noted.push(["close requested", undefined]),
    onRefused: (refusal) => noted.push(["refused", refusal]),
    onWarning: (message) => noted.push(["warning", message]),
  };
}

const stage = {
  /** Shows a page that the test wrote. Gives what `ready` came to. */
  async show(page: Partial<AppPage> & { html: string }, options: StageOptions): Promise<string> {
    const client = options.url === undefined ? undefined : await connect(options.url);
    const whole = { uri: "ui://page", csp: {}, permissions: [], domain: undefined, prefersBorder: undefined, ...page };
    app = showApp(whole, optionsOf(options, client));
    void app.closed.then((reason) => noted.push(["closed", reason]));
    return app.ready.then(() => "ready", String);
  },
  /** Calls a tool of the server and shows its page, as a host does. */
  async callAndShow(tool: string, args: Record<string, unknown>, options: StageOptions & { url: string }) {
    const extension = apps();
    const client = await connect(options.url, { extensions: [extension] });
    const pages = client.extension(extension);
    const listed = (await client.allTools()).find(({ name }) => name === tool);
    const page = listed === undefined ? undefined : await pages.pageOf(listed);
    if (listed === undefined || page === undefined) throw new Error(`no page of ${tool}`);
    app = showApp(page, { ...optionsOf(options, client), tool: listed });
    void app.closed.then((reason) => noted.push(["closed", reason]));
    app.toolInput(args);
    app.toolResult(await client.callTool(tool, args));
    await app.ready;
  },
  noted: () => noted,
  input: (args: Record<string, unknown>) => app.toolInput(args),
  partial: (args: Record<string, unknown>) => app.toolInputPartial(args),
  result: (result: CallToolResult) => app.toolResult(result),
  cancelled: (reason: string) => app.toolCancelled(reason),
  context: (change: object) => app.changeContext(change as ShowAppOptions["context"] & object),
  close: (reason?: string) => app.close(reason),
};

addEventListener("message", ({ data }) => data === "spoken" && Object.assign(globalThis, { spoken: true }));
Object.assign(globalThis, { stage });

/** What the page offers to the test. */
export type Stage = typeof stage;
