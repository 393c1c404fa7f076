import {
  APPS_VERSION,
  type UiDisplayMode,
  type UiHostCapabilities,
  type UiHostContext,
  type UiInitializeParams,
  type UiInitializeResult,
  type UiModelContext,
  type UiSize,
} from "../../../protocol/features/apps.js";
import type { ContentBlock } from "../../../protocol/features/content.js";
import type { ReadResourceResult } from "../../../protocol/features/resources.js";
import type { CallToolResult } from "../../../protocol/features/tools.js";
import type { Implementation } from "../../../protocol/implementation.js";
import type { LoggingLevel } from "../../../protocol/logging.js";
import { HostDialogue, type ViewWindow } from "./host-dialogue.js";

/** Options of `connectToHost`. */
export interface ConnectToHostOptions {
  /** Called with the arguments of the call that the page shows. */
  onInput?: ((args: Record<string, unknown>) => void) | undefined;
  /** Called with arguments that the model is still writing. Values may be missing or truncated. */
  onPartialInput?: ((args: Record<string, unknown>) => void) | undefined;
  /** Called with the result of the call. */
  onResult?: ((result: CallToolResult) => void) | undefined;
  /** Called when the call was cancelled. */
  onCancelled?: ((reason: string | undefined) => void) | undefined;
  /** Called with the changed members of the host's context. `host.context` is already up to date. */
  onContext?: ((change: UiHostContext) => void) | undefined;
  /** Called before the host removes the page. The host waits for the promise for a limited time. */
  onTeardown?: ((reason: string | undefined) => void | Promise<void>) | undefined;
  /** The display modes that the page supports. Default: not declared, and the host decides. */
  displayModes?: readonly UiDisplayMode[] | undefined;
  /** Reports the size of the page to the host when it changes. Default: true. */
  reportsSize?: boolean | undefined;
  /**
   * Time limit for a request in milliseconds, including the user's consent. Default: 5 min. The handshake has at most
   * 30 s.
   */
  timeoutMs?: number | undefined;
  /** The page's window. Default: `globalThis`. */
  window?: ViewWindow | undefined;
}

/** Options of one request. */
export interface HostRequestOptions {
  /** Cancels the request. */
  signal?: AbortSignal | undefined;
}

/**
 * The host that shows the page. Requests reject with `HostError` if the host refuses them or does not answer in time.
 */
export interface AppHost {
  /** The host's name and version. */
  readonly info: Implementation;
  /** The host's capabilities. */
  readonly capabilities: UiHostCapabilities;
  /** The host's context, with all changes so far. */
  readonly context: UiHostContext;
  /** Calls a tool of the server that the page came from. */
  callTool(name: string, args?: object, options?: HostRequestOptions): Promise<CallToolResult>;
  /** Reads a resource of the server that the page came from. */
  readResource(uri: string, options?: HostRequestOptions): Promise<ReadResourceResult>;
  /** Asks the host to open a link outside the page. */
  openLink(url: string, options?: HostRequestOptions): Promise<void>;
  /** Adds a message to the conversation, in the user's name. */
  sendMessage(message: string | ContentBlock[], options?: HostRequestOptions): Promise<void>;
  /** Sets context for the model's next turn, in place of the page's earlier context. */
  updateModelContext(context: UiModelContext, options?: HostRequestOptions): Promise<void>;
  /** Asks for another display mode, and returns the one that the host chose. */
  requestDisplayMode(mode: UiDisplayMode, options?: HostRequestOptions): Promise<UiDisplayMode>;
  /** Writes to the host's log. */
  log(level: LoggingLevel, data: unknown, logger?: string): void;
  /** Asks the host to remove the page. */
  requestTeardown(): void;
  /** Stops listening, and rejects pending requests. */
  close(): void;
}

/** Options that are called with notifications from the host. */
type NotificationHook = "onInput" | "onPartialInput" | "onResult" | "onCancelled" | "onContext";

const INITIALIZE_MS = 30_000;
const REQUEST_MS = 300_000;

/**
 * Connects an MCP Apps page, inside its frame, to the host that shows it. Rejects with `HostError` if the host does not
 * answer.
 *
 * Spec: MCP Apps, https://modelcontextprotocol.io/extensions/apps/overview
 *
 * @example
 * ```ts
 * import { connectToHost } from "@parley/mcp/apps-view";
 *
 * const host = await connectToHost({ name: "chart", version: "1.0.0" });
 * const result = await host.callTool("refresh", {});
 * ```
 */
export async function connectToHost(info: Implementation, options: ConnectToHostOptions = {}): Promise<AppHost> {
  // Safe: a page's global object is its window.
  const { window = globalThis as unknown as ViewWindow, timeoutMs = REQUEST_MS, displayModes } = options;
  let page: ReturnType<typeof hostOfPage> | undefined;
  const dialogue = new HostDialogue(window, {
    notified: (method, params) => page?.notified(method, params),
    answer: async (method, params) => {
      if (method === "ping") return {};
      if (method !== "ui/resource-teardown") return undefined;
      // Answer even if the hook fails, so that the host does not wait.
      await guard(window, "onTeardown", () => options.onTeardown?.(reasonOf(params)));
      return {};
    },
  });
  const appCapabilities = displayModes === undefined ? {} : { availableDisplayModes: [...displayModes] };
  const greeting: UiInitializeParams = { protocolVersion: APPS_VERSION, appInfo: info, appCapabilities };
  try {
    const greeted = await dialogue.request("ui/initialize", greeting, Math.min(timeoutMs, INITIALIZE_MS));
    // Not validated: the host controls the page anyway.
    page = hostOfPage(dialogue, greeted as unknown as UiInitializeResult, options);
  } catch (error) {
    dialogue.close();
    throw error;
  }
  dialogue.notify("ui/notifications/initialized", {});
  if (options.reportsSize !== false) {
    dialogue.closers.push(reportSize(window, (size) => dialogue.notify("ui/notifications/size-changed", size)));
  }
  return page.host;
}

/** Creates the `AppHost` of a page, and the function that receives the host's notifications. */
function hostOfPage(
  dialogue: HostDialogue,
  { hostInfo: info, hostCapabilities: capabilities = {}, hostContext = {} }: UiInitializeResult,
  options: ConnectToHostOptions,
): { host: AppHost; notified(method: string, params: Record<string, unknown>): void } {
  let context = hostContext;
  const { timeoutMs = REQUEST_MS } = options;
  // Safe: the specification defines the result of each method.
  const ask = async <R>(method: string, params: object, asked?: HostRequestOptions) =>
    (await dialogue.request(method, params, timeoutMs, asked?.signal)) as R;
  /** Sends a request without a result. Some hosts refuse with an error, others with `isError` in the result. */
  const act = async (method: string, params: object, asked?: HostRequestOptions) => {
    const { isError } = await ask<{ isError?: boolean }>(method, params, asked);
    if (isError === true) throw dialogue.refusal(method);
  };
  const host: AppHost = {
    info,
    capabilities,
    get context() {
      return context;
    },
    callTool: (name, args = {}, asked) => ask("tools/call", { name, arguments: args }, asked),
    readResource: (uri, asked) => ask("resources/read", { uri }, asked),
    openLink: (url, asked) => act("ui/open-link", { url }, asked),
    sendMessage(message, asked) {
      const content = typeof message === "string" ? [{ type: "text", text: message }] : message;
      return act("ui/message", { role: "user", content }, asked);
    },
    updateModelContext: (given, asked) => act("ui/update-model-context", given, asked),
    async requestDisplayMode(mode, asked) {
      return (await ask<{ mode: UiDisplayMode }>("ui/request-display-mode", { mode }, asked)).mode;
    },
    log: (level, data, logger) =>
      dialogue.notify("notifications/message", { level, data, ...(logger === undefined ? {} : { logger }) }),
    requestTeardown: () => dialogue.notify("ui/notifications/request-teardown", {}),
    close: () => dialogue.close(),
  };
  const notified = (method: string, params: Record<string, unknown>) => {
    if (method === "ui/notifications/host-context-changed") context = { ...context, ...params };
    callHooks(dialogue.window, options, method, params);
  };
  return { host, notified };
}

function callHooks(
  window: ViewWindow,
  options: ConnectToHostOptions,
  method: string,
  params: Record<string, unknown>,
): void {
  const call = <N extends NotificationHook>(name: N, what: Parameters<NonNullable<ConnectToHostOptions[N]>>[0]) => {
    // Safe: `what` has the parameter type of the hook with this name.
    const hook = options[name] as ((what: unknown) => void) | undefined;
    void guard(window, name, () => hook?.(what));
  };
  // Not validated: the host controls the page anyway.
  const args = (params["arguments"] ?? {}) as Record<string, unknown>;
  if (method === "ui/notifications/tool-input") call("onInput", args);
  else if (method === "ui/notifications/tool-input-partial") call("onPartialInput", args);
  // Not validated: the specification defines these params as the result.
  else if (method === "ui/notifications/tool-result") call("onResult", params as unknown as CallToolResult);
  else if (method === "ui/notifications/tool-cancelled") call("onCancelled", reasonOf(params));
  else if (method === "ui/notifications/host-context-changed") call("onContext", params);
}

/** Runs a hook of the page. Duplicates `callHook`, so that pages need not load another module. */
async function guard({ console }: ViewWindow, name: string, run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (error) {
    console.warn(`\`${name}\` failed: ${error instanceof Error ? error.message : error}`);
  }
}

const reasonOf = ({ reason }: Record<string, unknown>) => (typeof reason === "string" ? reason : undefined);

/** Reports the size of the page's content now and whenever it changes, at most once per animation frame. */
function reportSize(window: ViewWindow, report: (size: UiSize) => void): () => void {
  const { ResizeObserver, document } = window;
  const { documentElement: root, body } = document;
  let last = "";
  let waiting = false;
  let ended = false;
  const measure = () => {
    waiting = false;
    if (ended) return;
    // Measure the height of the content. If the root element fills its frame, its own height would never shrink.
    const before = root.style.height;
    root.style.height = "max-content";
    const { height } = root.getBoundingClientRect();
    root.style.height = before;
    const size = { width: Math.ceil(root.scrollWidth), height: Math.ceil(height) };
    const text = `${size.width}x${size.height}`;
    if (text !== last) report(size);
    last = text;
  };
  const changed = () => {
    if (!waiting) window.requestAnimationFrame(measure);
    waiting = true;
  };
  changed();
  const observer = ResizeObserver === undefined ? undefined : new ResizeObserver(changed);
  // Safe: these are elements of this window.
  for (const element of [root, body]) if (element !== null) observer?.observe(element as never);
  return () => {
    ended = true;
    observer?.disconnect();
  };
}
