import type { Id } from "../../jsonrpc/message.js";
import type { Implementation } from "../implementation.js";
import type { ContentBlock } from "./content.js";
import type { CallToolResult, Tool } from "./tools.js";

// The messages between the page of an app and the host that displays it. They are sent with `postMessage` and have
// their own handshake.
// Spec: MCP Apps, https://modelcontextprotocol.io/extensions/apps/overview

/** The version of the protocol between page and host. */
export const APPS_VERSION = "2026-01-26";

/** The origins that a page may access. Default of each: none. */
export interface UiCsp {
  /** Origins for `fetch`, `XMLHttpRequest` and web sockets. */
  connectDomains?: readonly string[] | undefined;
  /** Origins of scripts, styles, images, fonts and media. */
  resourceDomains?: readonly string[] | undefined;
  /** Origins of frames inside the page. */
  frameDomains?: readonly string[] | undefined;
  /** Origins for `<base>`. */
  baseUriDomains?: readonly string[] | undefined;
}

/** A browser feature that a page can request. */
export type UiPermission = "camera" | "microphone" | "geolocation" | "clipboardWrite";

/** Permissions on the wire: the present members are requested or granted, and their values are empty. */
export type UiPermissions = { [P in UiPermission]?: Record<string, never> };

/** The possible callers of a tool. */
export type UiVisibility = "model" | "app";

/** `_meta.ui` of a tool. */
export interface UiToolMeta {
  /** The `ui://` URI of the page that displays the tool's result. */
  resourceUri?: string;
  /** The callers that may use the tool. Default: both. */
  visibility?: UiVisibility[];
}

/** `_meta.ui` of the contents of a page. */
export interface UiResourceMeta {
  /** The origins that the page may access. */
  csp?: UiCsp;
  /** The browser features that the page requests. */
  permissions?: UiPermissions;
  /** A dedicated origin for the page, in a format that the host defines. */
  domain?: string;
  /** True if the host should draw a border around the page, false if it should not. Default: the host decides. */
  prefersBorder?: boolean;
}

/** How a page is displayed. */
export type UiDisplayMode = "inline" | "fullscreen" | "pip";

/** Information of a host about itself and the user. All members are optional, and hosts may add others. */
export interface UiHostContext {
  /** The call that the page displays. */
  toolInfo?: { id?: Id; tool: Tool };
  /** The color theme of the host. */
  theme?: "light" | "dark";
  /** CSS variables of the host, and CSS that loads its fonts. */
  styles?: { variables?: Record<string, string | undefined>; css?: { fonts?: string } };
  /** The current display mode of the page. */
  displayMode?: UiDisplayMode;
  /** The display modes that the host supports. */
  availableDisplayModes?: UiDisplayMode[];
  /**
   * Size of the container in pixels. `width` and `height` are fixed; `maxWidth` and `maxHeight` limit a page that
   * chooses its own size.
   */
  containerDimensions?: { width?: number; maxWidth?: number; height?: number; maxHeight?: number };
  /** The user's language, as a BCP 47 tag. */
  locale?: string;
  /** The user's time zone, as an IANA name. */
  timeZone?: string;
  /** The name and version of the host program. */
  userAgent?: string;
  /** The kind of device or environment. */
  platform?: "web" | "desktop" | "mobile";
  /** The input methods of the device. */
  deviceCapabilities?: { touch?: boolean; hover?: boolean };
  /** Space in pixels that the page should leave empty at each edge. */
  safeAreaInsets?: { top: number; right: number; bottom: number; left: number };
  [member: string]: unknown;
}

/** The features of a host that a page can use. */
export interface UiHostCapabilities {
  /** Present if the host opens external links for the page. */
  openLinks?: Record<string, never>;
  /**
   * Present if the host forwards tool calls to the server. `listChanged`: the host also forwards changes of the tool
   * list.
   */
  serverTools?: { listChanged?: boolean };
  /**
   * Present if the host forwards reads of resources to the server. `listChanged`: the host also forwards changes of the
   * resource list.
   */
  serverResources?: { listChanged?: boolean };
  /** Present if the host accepts log messages. */
  logging?: Record<string, never>;
  /** The content types that `ui/message` may contain. */
  message?: Record<string, Record<string, never>>;
  /** The content types that `ui/update-model-context` may contain. */
  updateModelContext?: Record<string, Record<string, never>>;
  /** The permissions and origins that the sandbox grants. */
  sandbox?: { permissions?: UiPermissions; csp?: UiCsp };
  [member: string]: unknown;
}

/** The features of a page. */
export interface UiAppCapabilities {
  /** The display modes that the page supports. */
  availableDisplayModes?: UiDisplayMode[];
  [member: string]: unknown;
}

/** Parameters of `ui/initialize`, from the page. */
export interface UiInitializeParams {
  /** The version of the protocol between page and host that the page uses. */
  protocolVersion: string;
  /** The name and version of the page. */
  appInfo: Implementation;
  /** The features of the page. */
  appCapabilities: UiAppCapabilities;
}

/** Result of `ui/initialize`. */
export interface UiInitializeResult {
  /** The version of the protocol between page and host that the host chose. */
  protocolVersion: string;
  /** The name and version of the host. */
  hostInfo: Implementation;
  /** The features of the host that the page can use. */
  hostCapabilities: UiHostCapabilities;
  /** Information about the host and the user. */
  hostContext: UiHostContext;
}

/** Parameters of `ui/message`, with which the page adds a message to the conversation. */
export interface UiMessageParams {
  /** The author of the message, always the user. */
  role: "user";
  /** The content of the message. */
  content: ContentBlock[];
}

/** Parameters of `ui/update-model-context`, from the page. Each update replaces the previous one. */
export interface UiModelContext {
  /** Content for the model. */
  content?: ContentBlock[];
  /** Structured data for the model. */
  structuredContent?: Record<string, unknown>;
}

/** Parameters of `ui/notifications/size-changed`, from the page. */
export interface UiSize {
  /** The new width in pixels. */
  width?: number;
  /** The new height in pixels. */
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
