import type { Id } from "../../jsonrpc/message.js";
import type { Implementation } from "../implementation.js";
import type { ContentBlock } from "./content.js";
import type { CallToolResult, Tool } from "./tools.js";

// The messages between the page of an app and the host that shows it. They travel by `postMessage`, with a handshake of
// their own. Spec: MCP Apps, https://modelcontextprotocol.io/extensions/apps/overview

/** The version of the dialogue between page and host. */
export const APPS_VERSION = "2026-01-26";

/** The origins that a page may reach. Default of each: none. */
export interface UiCsp {
  /** For `fetch`, `XMLHttpRequest` and web sockets. */
  connectDomains?: readonly string[] | undefined;
  /** For scripts, styles, images, fonts and media. */
  resourceDomains?: readonly string[] | undefined;
  /** For frames inside the page. */
  frameDomains?: readonly string[] | undefined;
  /** For `<base>`. */
  baseUriDomains?: readonly string[] | undefined;
}

/** What a page can be allowed to use of the browser. */
export type UiPermission = "camera" | "microphone" | "geolocation" | "clipboardWrite";

/** Permissions on the wire: those that are present are meant. */
export type UiPermissions = { [P in UiPermission]?: Record<string, never> };

/** Who may call a tool. */
export type UiVisibility = "model" | "app";

/** `_meta.ui` of a tool. */
export interface UiToolMeta {
  resourceUri?: string;
  /** Default: both. */
  visibility?: UiVisibility[];
}

/** `_meta.ui` of the contents of a page. */
export interface UiResourceMeta {
  csp?: UiCsp;
  permissions?: UiPermissions;
  domain?: string;
  prefersBorder?: boolean;
}

/** How a page is displayed. */
export type UiDisplayMode = "inline" | "fullscreen" | "pip";

/** What a host tells a page about itself and about the user. All members are optional; others may come. */
export interface UiHostContext {
  /** The call that the page shows. */
  toolInfo?: { id?: Id; tool: Tool };
  theme?: "light" | "dark";
  /** CSS variables of the host, and CSS that loads its fonts. */
  styles?: { variables?: Record<string, string | undefined>; css?: { fonts?: string } };
  displayMode?: UiDisplayMode;
  availableDisplayModes?: UiDisplayMode[];
  /** In pixels: `width` and `height` are fixed, the others are bounds for a page that chooses its size. */
  containerDimensions?: { width?: number; maxWidth?: number; height?: number; maxHeight?: number };
  /** A BCP 47 tag. */
  locale?: string;
  /** An IANA name. */
  timeZone?: string;
  userAgent?: string;
  platform?: "web" | "desktop" | "mobile";
  deviceCapabilities?: { touch?: boolean; hover?: boolean };
  /** In pixels. */
  safeAreaInsets?: { top: number; right: number; bottom: number; left: number };
  [member: string]: unknown;
}

/** What a host does for a page. */
export interface UiHostCapabilities {
  openLinks?: Record<string, never>;
  serverTools?: { listChanged?: boolean };
  serverResources?: { listChanged?: boolean };
  logging?: Record<string, never>;
  /** The kinds of content that `ui/message` may have. */
  message?: Record<string, Record<string, never>>;
  /** The kinds of content that `ui/update-model-context` may have. */
  updateModelContext?: Record<string, Record<string, never>>;
  /** What the sandbox allows. */
  sandbox?: { permissions?: UiPermissions; csp?: UiCsp };
  [member: string]: unknown;
}

/** What a page can do. */
export interface UiAppCapabilities {
  availableDisplayModes?: UiDisplayMode[];
  [member: string]: unknown;
}

/** Parameters of `ui/initialize`, from the page. */
export interface UiInitializeParams {
  protocolVersion: string;
  appInfo: Implementation;
  appCapabilities: UiAppCapabilities;
}

/** Result of `ui/initialize`. */
export interface UiInitializeResult {
  protocolVersion: string;
  hostInfo: Implementation;
  hostCapabilities: UiHostCapabilities;
  hostContext: UiHostContext;
}

/** Parameters of `ui/message`, from the page. */
export interface UiMessageParams {
  role: "user";
  content: ContentBlock[];
}

/** Parameters of `ui/update-model-context`, from the page. Each replaces the one before. */
export interface UiModelContext {
  content?: ContentBlock[];
  structuredContent?: Record<string, unknown>;
}

/** Parameters of `ui/notifications/size-changed`, from the page; in pixels. */
export interface UiSize {
  width?: number;
  height?: number;
}

/** Parameters of the notifications that a host sends to a page, by method. */
export interface UiHostNotifications {
  "ui/notifications/tool-input-partial": { arguments: Record<string, unknown> };
  "ui/notifications/tool-input": { arguments: Record<string, unknown> };
  "ui/notifications/tool-result": CallToolResult;
  "ui/notifications/tool-cancelled": { reason?: string };
  "ui/notifications/host-context-changed": UiHostContext;
}
