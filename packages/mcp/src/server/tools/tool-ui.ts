import type { UiCsp, UiPermission, UiVisibility } from "../../protocol/features/apps.js";

/** The page that shows a tool and its results in hosts with MCP Apps. */
export interface ToolUi {
  /** The address of the page, `ui://…`. */
  uri: string;
  /**
   * The page itself, as HTML; whoever sees the tool may read it. Default: the server has a resource with this address, or
   * another tool brings the page.
   */
  html?: string | (() => string | Promise<string>) | undefined;
  /** Who may call the tool: the model, the page, or both. Default: both. */
  visibility?: readonly UiVisibility[] | undefined;
  /** What the page may reach. Default: nothing outside of it. */
  csp?: UiCsp | undefined;
  /** What the page may use of the browser, if the host agrees. Default: nothing. */
  permissions?: readonly UiPermission[] | undefined;
  /** The host name that the host should give the page; each host has its own rules for it. Default: the host decides. */
  domain?: string | undefined;
  /** Whether the host should draw a border. Default: the host decides. */
  prefersBorder?: boolean | undefined;
}
