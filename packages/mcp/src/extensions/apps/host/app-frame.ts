import { McpError } from "../../../protocol/error.js";
import type { UiCsp, UiHostContext, UiPermissions, UiSize } from "../../../protocol/features/apps.js";
import type { AppPage } from "../app-pages.js";
import { CSP_LISTS, isDomain, LOOPBACK_DOMAIN, MAX_DOMAINS } from "../content-policy.js";
import { PERMISSIONS, permissionsOnWire } from "../ui-meta.js";
import { type HostFrame, type HostWindow, MAX_TIMER_MS, type ShowAppOptions } from "./app-options.js";
import { FEATURES, SANDBOX_FLAGS } from "./sandbox-page.js";

/** Largest width and height of an app, in pixels, so that an app cannot make the host's page arbitrarily large. */
const MAX_PIXELS = 10_000;

/** The frame of an app. */
export interface AppFrame {
  readonly window: HostWindow;
  /** The domains and permissions that the sandbox allows, for the handshake. */
  readonly sandbox: { readonly csp: UiCsp; readonly permissions: UiPermissions };
  /** Sends a message to the app. */
  post(message: object): void;
  /** Clears the deadline for the handshake. */
  clearDeadline(): void;
  /** Resizes the frame within the host's bounds, and returns the bounded size. */
  resize(size: UiSize, container: UiHostContext["containerDimensions"]): UiSize;
  /** Removes the frame and its listeners. */
  remove(): void;
}

/** Callbacks of a frame. */
export interface FrameEvents {
  /** Called with each message of the app. */
  received(data: unknown): void;
  /** Called when another document replaced the sandbox. */
  sandboxNavigated(): void;
  /** Called when another document replaced the app inside the sandbox. */
  appNavigated(): void;
  /** Called when the app has not completed the handshake in time. */
  timedOut(): void;
}

/**
 * Adds a frame with the sandbox page to the container. Sends the app's page to the sandbox when the sandbox reports
 * that it is ready.
 */
export function appFrame(page: AppPage, options: ShowAppOptions, events: FrameEvents): AppFrame {
  const { container, allowLoopback = false, sameOrigin = false, initializeMs = 30_000 } = options;
  const { ownerDocument } = container;
  const window = ownerDocument.defaultView;
  if (window === null) throw new McpError("misuse", "the container is in a document without a window");
  const address = sandboxAddress(options.sandbox, window);
  const csp = allowedCsp(page.csp, allowLoopback);
  const granted = PERMISSIONS.filter((one) => page.permissions.includes(one) && options.permissions?.includes(one));
  const permissions = permissionsOnWire(granted);
  const frame = ownerDocument.createElement("iframe");
  prepare(
    frame,
    address,
    granted.map((one) => FEATURES[one]),
  );

  let shown = false;
  const listener = ({ source, origin, data }: MessageEvent) => {
    // Ignore messages of other windows and documents.
    if (source === null || source !== frame.contentWindow || origin !== address.origin) return;
    if (data?.method !== "ui/notifications/sandbox-proxy-ready") {
      if (!shown) return;
      // The sandbox drops `sandbox-…` notifications from the app, so this one is genuine.
      if (data?.method === "ui/notifications/sandbox-resource-gone") events.appNavigated();
      else events.received(data);
      return;
    }
    if (shown) return;
    shown = true;
    post(resourceReady(page.html, { csp, permissions, sameOrigin }));
  };
  const post = (message: object) => frame.contentWindow?.postMessage(message, address.origin);
  let loads = 0;
  frame.addEventListener("load", () => {
    loads += 1;
    if (loads > 1) events.sandboxNavigated();
  });
  const timer = window.setTimeout(() => events.timedOut(), Math.min(initializeMs, MAX_TIMER_MS));
  // Safe: this window created the timer.
  const clearDeadline = () => window.clearTimeout(timer as never);
  window.addEventListener("message", listener);
  // Safe: this document created the element.
  container.append(frame as never);
  return {
    window,
    sandbox: { csp, permissions },
    post,
    clearDeadline,
    resize: (size, dimensions) => resize(frame, size, dimensions),
    remove() {
      clearDeadline();
      window.removeEventListener("message", listener);
      frame.remove();
    },
  };
}

/** The message that passes the app's page to the sandbox. */
function resourceReady(
  html: string,
  { csp, permissions, sameOrigin }: AppFrame["sandbox"] & { readonly sameOrigin: boolean },
): object {
  const sandbox = SANDBOX_FLAGS.filter((flag) => sameOrigin || flag !== "allow-same-origin").join(" ");
  const params = { html, sandbox, csp, permissions };
  return { jsonrpc: "2.0", method: "ui/notifications/sandbox-resource-ready", params };
}

function sandboxAddress(sandbox: string, { location }: HostWindow): URL {
  const address = URL.canParse(sandbox, location.href) ? new URL(sandbox, location.href) : undefined;
  if (address !== undefined && /^https?:$/.test(address.protocol) && address.origin !== location.origin) return address;
  const why = address?.origin === location.origin ? "has the origin of this page" : "is not an http or https URL";
  throw new McpError("invalid_definition", `\`sandbox\` of showApp ${why}`, {
    fix: "Serve the page of `sandboxPage` from another origin, so that apps cannot reach this page's document and storage.",
  });
}

function allowedCsp(csp: UiCsp, allowLoopback: boolean): UiCsp {
  const allowed = (domains: readonly string[]) =>
    domains
      .slice(0, MAX_DOMAINS)
      .filter((domain) => isDomain(domain) && (allowLoopback || !LOOPBACK_DOMAIN.test(domain)));
  return Object.fromEntries(CSP_LISTS.flatMap((list) => (csp[list] === undefined ? [] : [[list, allowed(csp[list])]])));
}

function prepare(frame: HostFrame, address: URL, features: readonly string[]): void {
  // The sandbox page is trusted and keeps its origin. It restricts the app's own frame.
  frame.setAttribute("sandbox", SANDBOX_FLAGS.join(" "));
  frame.setAttribute("allow", features.join("; "));
  // The sandbox reads its host's origin from the referrer in browsers without `ancestorOrigins`.
  frame.setAttribute("referrerpolicy", "origin");
  frame.setAttribute("title", "App");
  frame.style.border = "0";
  frame.style.width = "100%";
  frame.setAttribute("src", address.href);
}

/**
 * Applies the size that the app asked for, except for dimensions that the host has fixed. The width changes only if the
 * host passes `containerDimensions`.
 */
function resize(frame: HostFrame, asked: UiSize, container: UiHostContext["containerDimensions"]): UiSize {
  const { maxHeight = MAX_PIXELS, maxWidth = MAX_PIXELS } = container ?? {};
  const height = bounded(asked.height, maxHeight);
  const width = bounded(asked.width, maxWidth);
  if (height !== undefined && container?.height === undefined) frame.style.height = `${height}px`;
  if (width !== undefined && container !== undefined && container.width === undefined) frame.style.width = `${width}px`;
  return { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
}

function bounded(length: number | undefined, most: number): number | undefined {
  return length === undefined ? undefined : Math.ceil(Math.min(length, most, MAX_PIXELS));
}
