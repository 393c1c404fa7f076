import { neverUnhandled } from "../../../encoding/maybe-promise.js";
import { thrownMessage } from "../../../encoding/thrown-message.js";
import { withDefaults } from "../../../encoding/with-defaults.js";
import { INVALID_PARAMS, RpcError } from "../../../jsonrpc/error.js";
import { isObject, type Params } from "../../../jsonrpc/message.js";
import { callHook } from "../../../platform/call-hook.js";
import { McpError } from "../../../protocol/error.js";
import {
  APPS_VERSION,
  type UiHostContext,
  type UiHostNotifications,
  type UiInitializeResult,
  type UiSize,
} from "../../../protocol/features/apps.js";
import type { CallToolResult } from "../../../protocol/features/tools.js";
import type { Implementation } from "../../../protocol/implementation.js";
import { isLoggingLevel } from "../../../protocol/logging.js";
import type { AppPage } from "../app-pages.js";
import { type AppFrame, appFrame } from "./app-frame.js";
import { checkShowAppOptions, type ShowAppOptions } from "./app-options.js";
import { DEFAULT_APP_LIMITS } from "./message-limits.js";
import { ViewDialogue } from "./view-dialogue.js";
import { hostCapabilities, type ViewRequestHandler, viewRequests } from "./view-requests.js";

/** An app on display. */
export interface ShownApp {
  /**
   * Resolves when the app has completed the handshake and queued notifications were sent. Rejects if the app is closed
   * before that.
   */
  readonly ready: Promise<void>;
  /**
   * Resolves with the reason when the app is closed: by `close`, or because the app or its sandbox navigated away, or
   * because the app sent too many messages or did not initialize in time.
   */
  readonly closed: Promise<string>;
  /** Sends arguments that the model is still writing. Does nothing after `toolInput`. */
  toolInputPartial(args: Record<string, unknown>): void;
  /**
   * Sends the arguments of the call that the app shows. Throws `misuse` the second time and after the end of the call.
   */
  toolInput(args: Record<string, unknown>): void;
  /** Sends the result of the call. Throws `misuse` before `toolInput` and the second time. */
  toolResult(result: CallToolResult): void;
  /** Notifies the app that the call was cancelled, in place of a result. Throws `misuse` after the end of the call. */
  toolCancelled(reason?: string): void;
  /** Updates the app's information about the host and the user. Absent members do not change. */
  changeContext(change: UiHostContext): void;
  /** Asks the app to save its work, then removes it. Waits at most `teardownMs`. */
  close(reason?: string): Promise<void>;
  /** Calls `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Shows the page of an app in a sandbox, and answers its requests as far as the options allow. Runs in a browser.
 *
 * Notifications sent before the app is ready are queued. Throws `invalid_definition` for invalid options, such as a
 * sandbox with the origin of this page.
 *
 * Spec: MCP Apps, https://modelcontextprotocol.io/extensions/apps/overview
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/apps.md | Apps}
 */
export function showApp(page: AppPage, options: ShowAppOptions): ShownApp {
  checkShowAppOptions(options);
  return new AppInFrame(page, options);
}

type Stage = "loading" | "greeted" | "ready" | "closing" | "closed";
type QueuedNotifications = { [M in keyof UiHostNotifications]?: UiHostNotifications[M] };

class AppInFrame implements ShownApp {
  readonly #options: ShowAppOptions;
  readonly #frame: AppFrame;
  readonly #dialogue: ViewDialogue;
  readonly #requests: ReadonlyMap<string, ViewRequestHandler>;
  readonly ready: Promise<void>;
  readonly closed: Promise<string>;
  #stage: Stage = "loading";
  #context: UiHostContext;
  readonly #hostInfo: Implementation;
  #appModes: readonly unknown[] | undefined;
  /** Notifications to send when the app is ready. */
  readonly #queued: QueuedNotifications = {};
  /** The part of the call that was sent to the app: nothing, the arguments, or the end of the call. */
  #sent: "nothing" | "input" | "end" = "nothing";
  #settle: { ready: () => void; failed: (error: McpError) => void; closed: (reason: string) => void };

  constructor(page: AppPage, options: ShowAppOptions) {
    this.#options = options;
    const { tool, context, hostInfo, initializeMs = 30_000, requestMs = 300_000 } = options;
    this.#context = {
      ...(tool === undefined ? {} : { toolInfo: { tool: copyOf("`tool` of showApp", tool) } }),
      ...copyOf("`context` of showApp", context),
    };
    this.#hostInfo = copyOf("`hostInfo` of showApp", hostInfo);
    this.#settle = { ready: () => {}, failed: () => {}, closed: () => {} };
    this.ready = neverUnhandled(
      new Promise((resolve, reject) => Object.assign(this.#settle, { ready: resolve, failed: reject })),
    );
    this.closed = new Promise((resolve) => Object.assign(this.#settle, { closed: resolve }));
    this.#requests = viewRequests(this.#requestContext());
    this.#frame = appFrame(page, options, {
      received: (data) => this.#dialogue.receive(data),
      sandboxNavigated: () => this.#remove("the sandbox loaded another page"),
      appNavigated: () => this.#remove("the app navigated away or rewrote its document"),
      timedOut: () => this.#remove(`the app did not initialize within ${initializeMs} ms`, "timeout"),
    });
    this.#dialogue = new ViewDialogue({
      window: this.#frame.window,
      limits: withDefaults(DEFAULT_APP_LIMITS, options.limits),
      requestMs,
      post: (message) => this.#frame.post(message),
      handlerOf: (method) => this.#handlerOf(method),
      notified: (method, params) => this.#notified(method, params),
      flooded: () => this.#remove("the app sent too many messages"),
      refused: (refusal) => this.#call("onRefused", () => options.onRefused?.(refusal)),
      warn: (message) => this.#warn(message),
    });
  }

  toolInputPartial(args: Record<string, unknown>): void {
    if (this.#sent !== "nothing") return;
    this.#send("ui/notifications/tool-input-partial", copyOf("`args` of toolInputPartial", { arguments: args }));
  }

  toolInput(args: Record<string, unknown>): void {
    if (this.#sent !== "nothing") throw new McpError("misuse", "the app already has the arguments of its call");
    const input = copyOf("`args` of toolInput", { arguments: args });
    this.#sent = "input";
    delete this.#queued["ui/notifications/tool-input-partial"];
    this.#send("ui/notifications/tool-input", input);
  }

  toolResult(result: CallToolResult): void {
    if (this.#sent !== "input") {
      const why =
        this.#sent === "end" ? "already knows the end of its call" : "does not have the arguments of its call yet";
      throw new McpError("misuse", `the app ${why}`, { fix: "Call `toolInput` once, then `toolResult` once." });
    }
    const copied = copyOf("`result` of toolResult", result);
    this.#sent = "end";
    this.#send("ui/notifications/tool-result", copied);
  }

  toolCancelled(reason?: string): void {
    if (this.#sent === "end") throw new McpError("misuse", "the app already knows the end of its call");
    const cancelled = copyOf("`reason` of toolCancelled", reason === undefined ? {} : { reason });
    this.#sent = "end";
    this.#send("ui/notifications/tool-cancelled", cancelled);
  }

  changeContext(change: UiHostContext): void {
    const changed = copyOf("`change` of changeContext", change);
    this.#context = { ...this.#context, ...changed };
    // Before `ui/initialize`, nothing is sent, because the answer to that request contains the whole context.
    if (this.#stage === "loading") return;
    this.#send("ui/notifications/host-context-changed", {
      ...this.#queued["ui/notifications/host-context-changed"],
      ...changed,
    });
  }

  async close(reason = "closed by the host"): Promise<void> {
    if (this.#stage === "ready") {
      this.#stage = "closing";
      await this.#dialogue.request("ui/resource-teardown", { reason }, this.#options.teardownMs ?? 1000);
    } else if (this.#stage === "closing") {
      await this.closed;
    }
    this.#remove(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #requestContext() {
    const app = this;
    const { server } = this.#options;
    return {
      hooks: this.#options,
      server,
      now: () => app.#frame.window.performance.now(),
      get context() {
        return app.#context;
      },
      get appModes() {
        return app.#appModes;
      },
      changeContext: (change: UiHostContext) => app.changeContext(change),
    };
  }

  /** Sends a notification, or queues it until the app is ready. The protocol forbids sending earlier. */
  #send<M extends keyof UiHostNotifications>(method: M, params: UiHostNotifications[M]): void {
    if (this.#stage === "ready") this.#dialogue.notify(method, params);
    else if (this.#stage !== "closed") Object.assign(this.#queued, { [method]: params });
  }

  #handlerOf(method: string): ViewRequestHandler | undefined {
    if (method === "ui/initialize" && this.#stage === "loading") return async (params) => this.#initialize(params);
    return method === "ping" || this.#isInitialized ? this.#requests.get(method) : undefined;
  }

  /** True while the app may send requests. An app that is being closed may still save its work. */
  get #isInitialized(): boolean {
    return this.#stage === "ready" || this.#stage === "closing";
  }

  #initialize(params: Params): UiInitializeResult {
    const { protocolVersion, appInfo, appCapabilities } = params;
    if (typeof protocolVersion !== "string" || !isObject(appInfo) || !isObject(appCapabilities)) {
      throw new RpcError(INVALID_PARAMS, "ui/initialize needs `protocolVersion`, `appInfo` and `appCapabilities`");
    }
    const { availableDisplayModes: modes } = appCapabilities;
    this.#appModes = Array.isArray(modes) ? modes : undefined;
    this.#stage = "greeted";
    return {
      protocolVersion: APPS_VERSION,
      hostInfo: this.#hostInfo,
      hostCapabilities: {
        ...hostCapabilities({ hooks: this.#options, server: this.#options.server }),
        sandbox: this.#frame.sandbox,
      },
      hostContext: this.#context,
    };
  }

  #notified(method: string, params: Params): void {
    if (method === "ui/notifications/initialized" && this.#stage === "greeted") return this.#begin();
    if (!this.#isInitialized) return;
    if (method === "ui/notifications/size-changed") this.#resize(params);
    else if (method === "ui/notifications/request-teardown") {
      this.#call("onCloseRequested", () => this.#options.onCloseRequested?.());
    } else if (method === "notifications/message") {
      const { level, logger, data } = params;
      if (!isLoggingLevel(level)) return;
      const message = { level, data, ...(typeof logger === "string" ? { logger } : {}) };
      this.#call("onLog", () => this.#options.onLog?.(message));
    }
  }

  #begin(): void {
    this.#stage = "ready";
    this.#frame.clearDeadline();
    const order: readonly (keyof UiHostNotifications)[] = [
      "ui/notifications/host-context-changed",
      "ui/notifications/tool-input-partial",
      "ui/notifications/tool-input",
      "ui/notifications/tool-result",
      "ui/notifications/tool-cancelled",
    ];
    for (const method of order) {
      const params = this.#queued[method];
      if (params !== undefined) this.#dialogue.notify(method, params);
    }
    this.#settle.ready();
  }

  #resize({ width, height }: Params): void {
    const size: UiSize = { ...(isLength(width) ? { width } : {}), ...(isLength(height) ? { height } : {}) };
    const bounded = this.#frame.resize(size, this.#context.containerDimensions);
    this.#call("onSize", () => this.#options.onSize?.(bounded));
  }

  #call(name: string, run: () => unknown): void {
    callHook((message) => this.#warn(message), name, run);
  }

  #warn(message: string): void {
    const { onWarning } = this.#options;
    const { console } = this.#frame.window;
    if (onWarning === undefined) console.warn(message);
    else callHook(console, "onWarning", () => onWarning(message));
  }

  #remove(reason: string, kind: "connection_closed" | "timeout" = "connection_closed"): void {
    if (this.#stage === "closed") return;
    this.#stage = "closed";
    this.#dialogue.end();
    this.#frame.remove();
    this.#settle.failed(new McpError(kind, `the app was closed: ${reason}`));
    this.#settle.closed(reason);
  }
}

/**
 * Copies a value for the app. Throws `misuse` at once for values that cannot be cloned, because a queued notification
 * could not report the error later.
 */
function copyOf<T>(what: string, value: T): T {
  try {
    return structuredClone(value);
  } catch (error) {
    throw new McpError("misuse", `${what} cannot be sent to the app: ${thrownMessage(error)}`, {
      cause: error,
      fix: "Pass plain data, without functions and without objects of the page.",
    });
  }
}

function isLength(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
