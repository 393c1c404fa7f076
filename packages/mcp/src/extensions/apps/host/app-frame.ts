import { McpError } from "../../../protocol/error.js";
import type { UiCsp, UiHostContext, UiPermissions, UiSize } from "../../../protocol/features/apps.js";
import type { AppPage } from "../app-pages.js";
import { CSP_LISTS, isDomain, LOOPBACK_DOMAIN, MAX_DOMAINS } from "../content-policy.js";
import { PERMISSIONS, permissionsOnWire } from "../ui-meta.js";
import { type HostFrame, type HostWindow, MAX_TIMER_MS, type ShowAppOptions } from "./app-options.js";
import { FEATURES, SANDBOX_FLAGS } from "./sandbox-page.js";

/** Pixels that an app may be high or wide, so that it cannot push everything else out of reach. */
const MAX_PIXELS = 10_000;

/** The frame of an app. */
export interface AppFrame {
  readonly window: HostWindow;
  /** The permissions of the sandbox, for the handshake. */
  readonly sandbox: { readonly csp: UiCsp; readonly permissions: UiPermissions };
  post(message: object): void;
  /** Ends the deadline of the greeting. */
  clearDeadline(): void;
  /** Gives the frame a size as far as the host allows, and returns the size with the host's bounds. */
  resize(size: UiSize, container: UiHostContext["containerDimensions"]): UiSize;
  remove(): void;
}

/** The events of a frame. */
export interface FrameEvents {
  /** A message of the app. */
  received(data: unknown): void;
  /** Something else was loaded in place of the sandbox. */
  sandboxNavigated(): void;
  /** Something else was loaded in place of the app, inside of the sandbox. */
  appNavigated(): void;
  /** The app did not arrive in time. */
  timedOut(): void;
}

/** Adds the frame of an app to its container: the sandbox's page, which gets the app's page as soon as it is there. */
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
      // The sandbox keeps its own notifications from the app.
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
  // Safe: the timer is this window's.
  const clearDeadline = () => window.clearTimeout(timer as never);
  window.addEventListener("message", listener);
  // Safe: it is the element that this document made.
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

/** The message that gives the sandbox its app. */
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
  const why = address?.origin === location.origin ? "has the origin of this page" : "is not a web address";
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
  // The sandbox's page itself is ours and keeps its origin; what it allows the app is its own decision.
  frame.setAttribute("sandbox", SANDBOX_FLAGS.join(" "));
  frame.setAttribute("allow", features.join("; "));
  // From it the sandbox learns who its host is, in browsers that do not tell it otherwise.
  frame.setAttribute("referrerpolicy", "origin");
  frame.setAttribute("title", "App");
  frame.style.border = "0";
  frame.style.width = "100%";
  frame.setAttribute("src", address.href);
}

/** An app chooses its size where the host has not fixed it; its width only where the host says so. */
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
