/** The domains that a page of MCP Apps may reach. Default of each: none. */
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

/** The page that shows a tool and its results in hosts with MCP Apps. */
export interface ToolUi {
  /** The address of the page, `ui://…`. */
  uri: string;
  /** The page itself, as HTML. Default: the server has a resource with this address. */
  html?: string | (() => string | Promise<string>) | undefined;
  /** Who may call the tool: the model, the page, or both. Default: both. */
  visibility?: readonly ("model" | "app")[] | undefined;
  /** What the page may reach. Default: nothing outside of it. */
  csp?: UiCsp | undefined;
  /** What the page may use of the browser. Default: nothing. */
  permissions?: readonly ("camera" | "microphone" | "geolocation" | "clipboardWrite")[] | undefined;
  /** The origin that the host should give the page. Default: the host decides. */
  domain?: string | undefined;
  /** Whether the host should draw a border. Default: the host decides. */
  prefersBorder?: boolean | undefined;
}
