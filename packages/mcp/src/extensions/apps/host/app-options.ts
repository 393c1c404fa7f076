import { checkOptions } from "../../../protocol/check-options.js";
import { McpError } from "../../../protocol/error.js";
import type {
  UiDisplayMode,
  UiHostContext,
  UiMessageParams,
  UiModelContext,
  UiPermission,
  UiSize,
} from "../../../protocol/features/apps.js";
import type { ReadResourceResult } from "../../../protocol/features/resources.js";
import type { CallToolResult, Tool } from "../../../protocol/features/tools.js";
import type { Implementation } from "../../../protocol/implementation.js";
import type { LoggingMessageNotificationParams } from "../../../protocol/logging.js";

/** Limits on what the page of an app may send. */
export interface AppLimits {
  /** Characters of one message, its texts and the names of its members; more is refused. Default: 4 Mi. */
  maxMessageBytes: number;
  /** Messages in one second, averaged; more are refused, and ten times as many refusals close the app. Default: 100. */
  maxMessagesPerSecond: number;
  /** Requests that wait for their answers at once; more are refused. Default: 16. */
  maxRequests: number;
}

/** The part of a server that an app may use. A `Client` is one. */
export interface AppServer {
  tools(options?: { signal: AbortSignal }): AsyncIterable<Tool>;
  callTool(name: string, args: object, options: { signal: AbortSignal }): Promise<CallToolResult>;
  readResource(uri: string, options: { signal: AbortSignal }): Promise<ReadResourceResult>;
}

/** A tool that an app wants to call. */
export interface AppToolCall {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Aborted when the app gives up, is closed, or has waited for `requestMs`. */
  readonly signal: AbortSignal;
}

/** A request of an app that was refused, for the host's log. */
export interface AppRefusal {
  /** Undefined if the message had none. */
  readonly method: string | undefined;
  readonly reason: string;
}

/**
 * What a host decides for an app. What is left out is refused, and the app is told beforehand. A function that throws
 * refuses; it is named to `onWarning`.
 */
export interface AppHooks {
  /** Whether the app may call this tool now. Called only for tools of its own server that are for apps. Default: it may not. */
  mayCallTool?: ((call: AppToolCall) => boolean | Promise<boolean>) | undefined;
  /** Whether the app may read this resource of its server. Default: it may not. */
  mayReadResource?: ((uri: string, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /** Opens an `https:` address outside of the host, if the user agrees; false if not. Default: nothing is opened. */
  openLink?: ((url: string, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /** Adds a message to the conversation, as the user's; false if that is not wanted. Default: it is refused. */
  sendMessage?: ((message: UiMessageParams, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /** Takes what the model should know in its next turn, in place of what this app said before; false if not. Default: refused. */
  updateModelContext?: ((context: UiModelContext, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /**
   * Changes how the app is displayed, and returns how it is then. Called only for modes that are in
   * `context.availableDisplayModes` and that the app supports. Default: the mode stays.
   */
  changeDisplayMode?:
    | ((mode: UiDisplayMode, signal: AbortSignal) => UiDisplayMode | Promise<UiDisplayMode>)
    | undefined;
  /** Called after the app's frame was given the size that the app asked for, as far as the bounds of `context.containerDimensions` and of the library allow. */
  onSize?: ((size: UiSize) => void) | undefined;
  /** Called with what the app logs. */
  onLog?: ((message: LoggingMessageNotificationParams) => void) | undefined;
  /** Called when the app asks to be closed; `close` does it. */
  onCloseRequested?: (() => void) | undefined;
  /** Called with each request of the app that was refused. */
  onRefused?: ((refusal: AppRefusal) => void) | undefined;
  /** Called with problems of the host's own functions. Default: the console's `warn`. */
  onWarning?: ((message: string) => void) | undefined;
}

/** Options of `showApp`. */
export interface ShowAppOptions extends AppHooks {
  /** The element that the app's frame is added to. */
  container: HostElement;
  /** The address of the page of `sandboxPage`, on another origin than this page. */
  sandbox: string;
  /** The server that the page came from. Default: the app can call no tools and read no resources. */
  server?: AppServer | undefined;
  /** The name and version of the host. */
  hostInfo: Implementation;
  /** The tool whose call the app shows. */
  tool?: Tool | undefined;
  /** Information about the host and the user for the app. Default: none. */
  context?: UiHostContext | undefined;
  /** Features of the browser that apps may use if their page declares them. Default: none. */
  permissions?: readonly UiPermission[] | undefined;
  /** Whether the app may reach this machine if its page declares so, for development. Default: false. */
  allowLoopback?: boolean | undefined;
  /**
   * Gives the app the origin of the sandbox, with storage and cookies. Apps of several servers must then have sandboxes on
   * several origins. Default: false; the app has an origin of its own, which nothing else shares.
   */
  sameOrigin?: boolean | undefined;
  /** How long the app may take to load and to greet the host; it is closed afterwards. Default: 30 s. */
  initializeMs?: number | undefined;
  /** How long one request of the app may take, the user's consent included. Default: 5 min. */
  requestMs?: number | undefined;
  /** How long the app may take to save its work before it is removed. Default: 1 s. */
  teardownMs?: number | undefined;
  /** Limits on what the app may send. */
  limits?: { [K in keyof AppLimits]?: AppLimits[K] | undefined } | undefined;
}

/** Throws for options of `showApp` that cannot be meant. */
export function checkShowAppOptions(options: ShowAppOptions): void {
  checkOptions(
    "showApp",
    options,
    "container sandbox server hostInfo tool context permissions allowLoopback sameOrigin initializeMs requestMs teardownMs limits mayCallTool mayReadResource openLink sendMessage updateModelContext changeDisplayMode onSize onLog onCloseRequested onRefused onWarning",
  );
  checkOptions("`limits` of showApp", options.limits, "maxMessageBytes maxMessagesPerSecond maxRequests");
  const { initializeMs, requestMs, teardownMs, limits } = options;
  for (const [name, value] of Object.entries({ initializeMs, requestMs, teardownMs, ...limits })) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw new McpError("invalid_definition", `\`${name}\` of showApp is ${value}`, {
      fix: "Pass a whole number above 0.",
    });
  }
}

// The parts of a browser that the host uses. The library compiles without the types of one, because it runs elsewhere too;
// the elements of every browser fit these.

/** Milliseconds that a timer of a browser can take; a longer one would end at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The part of an element that an app is shown in. */
export interface HostElement {
  readonly ownerDocument: {
    createElement(name: "iframe"): HostFrame;
    readonly defaultView: HostWindow | null;
  };
  append(frame: never): void;
}

/** The part of a frame that is used. */
export interface HostFrame {
  readonly contentWindow: { postMessage(message: unknown, targetOrigin: string): void } | null;
  readonly style: { width: string; height: string; border: string };
  setAttribute(name: string, value: string): void;
  addEventListener(type: "load", listener: () => void): void;
  remove(): void;
}

/** The part of a window that is used. */
export interface HostWindow {
  readonly location: { readonly href: string; readonly origin: string };
  readonly performance: { now(): number };
  readonly console: { warn(message: string): void };
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: never): void;
}
