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

/** Limits on the messages of an app. */
export interface AppLimits {
  /**
   * Maximum length of one message: the characters of its strings and member names. Longer messages are refused.
   * Default: 4 Mi.
   */
  maxMessageBytes: number;
  /**
   * Maximum average number of messages per second. Further messages are refused. If the number of refusals exceeds ten
   * times this value, the app is closed. Default: 100.
   */
  maxMessagesPerSecond: number;
  /** Maximum number of concurrent requests. Further requests are refused. Default: 16. */
  maxRequests: number;
}

/** The part of a server that an app may use. A `Client` fits. */
export interface AppServer {
  /** Lists the tools of the server. */
  tools(options?: { signal: AbortSignal }): AsyncIterable<Tool>;
  /** Calls a tool. Used only after `mayCallTool` allowed it. */
  callTool(name: string, args: object, options: { signal: AbortSignal }): Promise<CallToolResult>;
  /** Reads a resource. Used only after `mayReadResource` allowed it. */
  readResource(uri: string, options: { signal: AbortSignal }): Promise<ReadResourceResult>;
}

/** A tool call that an app requests. */
export interface AppToolCall {
  /** The tool, as the server listed it. */
  readonly tool: Tool;
  /** The arguments from the app. Treat them as untrusted. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Aborted when the app cancels the request or is closed, or after `requestMs`. */
  readonly signal: AbortSignal;
}

/** A refused message or a failed request of an app, for the host's log. */
export interface AppRefusal {
  /** The method of the message. Undefined if the message had none. */
  readonly method: string | undefined;
  /** The reason for the refusal, in English. */
  readonly reason: string;
}

/**
 * Decisions of a host about an app. If the function for a request is absent, the host refuses the request and does not
 * declare the capability in the handshake. A function that throws refuses the request; its error is reported to
 * `onWarning`.
 */
export interface AppHooks {
  /**
   * Decides if the app may call this tool now. Called only for tools of the app's own server that are visible to apps.
   * Default: refused.
   */
  mayCallTool?: ((call: AppToolCall) => boolean | Promise<boolean>) | undefined;
  /** Decides if the app may read this resource of its server. Default: refused. */
  mayReadResource?: ((uri: string, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /**
   * Opens an `https:` URL outside the host, if the user agrees. Returns false if the user does not agree. Default:
   * refused.
   */
  openLink?: ((url: string, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /** Adds a message to the conversation, in the user's name. Returns false to refuse it. Default: refused. */
  sendMessage?: ((message: UiMessageParams, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /**
   * Stores context for the model's next turn, in place of the app's earlier context. Returns false to refuse it.
   * Default: refused.
   */
  updateModelContext?: ((context: UiModelContext, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
  /**
   * Changes the display mode and returns the resulting one. Called only for modes in `context.availableDisplayModes`
   * that the app supports. Default: the mode does not change.
   */
  changeDisplayMode?:
    | ((mode: UiDisplayMode, signal: AbortSignal) => UiDisplayMode | Promise<UiDisplayMode>)
    | undefined;
  /**
   * Called when the app asks for a size, after the frame was resized. `size` is the requested size within the bounds of
   * `context.containerDimensions` and of 10,000 pixels.
   */
  onSize?: ((size: UiSize) => void) | undefined;
  /** Called with each log message of the app. */
  onLog?: ((message: LoggingMessageNotificationParams) => void) | undefined;
  /** Called when the app asks to be closed. Call `close` to close it. */
  onCloseRequested?: (() => void) | undefined;
  /** Called with each refused message and each failed request of the app. */
  onRefused?: ((refusal: AppRefusal) => void) | undefined;
  /** Called when a function of the host failed. Default: `console.warn`. */
  onWarning?: ((message: string) => void) | undefined;
}

/** Options of `showApp`. */
export interface ShowAppOptions extends AppHooks {
  /** The element that receives the app's frame. */
  container: HostElement;
  /** The URL of the page from `sandboxPage`, on another origin than this page. */
  sandbox: string;
  /** The server that the page came from. Default: the app cannot call tools or read resources. */
  server?: AppServer | undefined;
  /** The name and version of the host, sent to the app. */
  hostInfo: Implementation;
  /** The tool whose call the app shows. Default: not sent to the app. */
  tool?: Tool | undefined;
  /** Information about the host and the user, sent to the app. Default: none. */
  context?: UiHostContext | undefined;
  /** Browser features that the app may use if its page declares them. Default: none. */
  permissions?: readonly UiPermission[] | undefined;
  /** Allows the app to reach loopback domains that its page declares, for development. Default: false. */
  allowLoopback?: boolean | undefined;
  /**
   * Gives the app the origin of the sandbox, with storage and cookies. Apps of different servers then need sandboxes on
   * different origins. Default: false, so that each app has a unique origin.
   */
  sameOrigin?: boolean | undefined;
  /** Time limit for the app to load and complete the handshake. An app that exceeds it is closed. Default: 30 s. */
  initializeMs?: number | undefined;
  /** Time limit for one request of the app, including the user's consent. Default: 5 min. */
  requestMs?: number | undefined;
  /** Time for the app to save its work before it is removed. Default: 1 s. */
  teardownMs?: number | undefined;
  /** Limits on the app's messages. Default: those of `AppLimits`. */
  limits?: { [K in keyof AppLimits]?: AppLimits[K] | undefined } | undefined;
}

/** Throws `invalid_definition` for unknown or invalid options of `showApp`. */
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

// Structural types for the browser objects that the host uses. The library compiles without DOM types, because it runs
// elsewhere too. The elements of every browser fit.

/** The longest delay of a browser timer. A timer with a longer delay would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The part of an element that `showApp` uses. */
export interface HostElement {
  /** The document that creates the frame, and its window. */
  readonly ownerDocument: {
    createElement(name: "iframe"): HostFrame;
    readonly defaultView: HostWindow | null;
  };
  /** Adds the frame to the element. */
  append(frame: never): void;
}

/** The part of an `iframe` that `showApp` uses. */
export interface HostFrame {
  /** The window of the framed page; null while the frame is not in a document. */
  readonly contentWindow: { postMessage(message: unknown, targetOrigin: string): void } | null;
  /** The inline style, for the size and the border. */
  readonly style: { width: string; height: string; border: string };
  /** Sets an attribute, such as `sandbox`. */
  setAttribute(name: string, value: string): void;
  /** Registers a listener for loaded documents. */
  addEventListener(type: "load", listener: () => void): void;
  /** Removes the frame from its document. */
  remove(): void;
}

/** The part of a window that `showApp` uses. */
export interface HostWindow {
  /** The address of the host's page; its origin must differ from the sandbox's. */
  readonly location: { readonly href: string; readonly origin: string };
  /** The clock for rate limits and caching. */
  readonly performance: { now(): number };
  /** The target of warnings if `onWarning` is absent. */
  readonly console: { warn(message: string): void };
  /** Registers the listener for messages of the frame. */
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  /** Removes the listener for messages of the frame. */
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  /** Starts a timer. */
  setTimeout(run: () => void, ms: number): unknown;
  /** Stops a timer. */
  clearTimeout(timer: never): void;
}
