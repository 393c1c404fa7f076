import { isWebAddress } from "../../../encoding/web-address.js";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../../jsonrpc/error.js";
import { isObject, type Params } from "../../../jsonrpc/message.js";
import { onAbort } from "../../../platform/on-abort.js";
import type {
  UiDisplayMode,
  UiHostCapabilities,
  UiHostContext,
  UiModelContext,
} from "../../../protocol/features/apps.js";
import { type ContentBlock, isContentBlock } from "../../../protocol/features/content.js";
import type { Tool } from "../../../protocol/features/tools.js";
import { mayBeCalledByApp } from "../app-pages.js";
import type { AppHooks, AppServer } from "./app-options.js";

/** Error code for requests that the host or its user does not allow. */
export const DENIED = -32000;
/** Maximum number of content blocks in one message or model context. Requests with more are refused. */
const MAX_BLOCKS = 100;
const DISPLAY_MODES: readonly unknown[] = ["inline", "fullscreen", "pip"] satisfies UiDisplayMode[];

/** The host's state and functions for the requests of one app. */
interface ViewRequestContext {
  readonly hooks: AppHooks;
  readonly server: AppServer | undefined;
  now(): number;
  /** The app's current context, with the current `displayMode`. */
  readonly context: UiHostContext;
  /** The display modes that the app supports. Undefined if it declared none. */
  readonly appModes: readonly unknown[] | undefined;
  /** Changes `context` and notifies the app. */
  changeContext(change: UiHostContext): void;
}

/** Handles one request of the app. Rejects with `RpcError` to refuse it. */
export type ViewRequestHandler = (params: Params, signal: AbortSignal) => Promise<object>;

/** Returns the host's capabilities for the handshake. */
export function hostCapabilities({ hooks, server }: Pick<ViewRequestContext, "hooks" | "server">): UiHostCapabilities {
  const anyContent = { text: {}, image: {}, audio: {}, resource: {}, resourceLink: {} };
  return {
    ...(server !== undefined && hooks.mayCallTool !== undefined ? { serverTools: {} } : {}),
    ...(server !== undefined && hooks.mayReadResource !== undefined ? { serverResources: {} } : {}),
    ...(hooks.openLink === undefined ? {} : { openLinks: {} }),
    ...(hooks.sendMessage === undefined ? {} : { message: anyContent }),
    ...(hooks.updateModelContext === undefined ? {} : { updateModelContext: { ...anyContent, structuredContent: {} } }),
    ...(hooks.onLog === undefined ? {} : { logging: {} }),
  };
}

/** Returns the handlers for the requests of the app after the handshake, by method. */
export function viewRequests(host: ViewRequestContext): ReadonlyMap<string, ViewRequestHandler> {
  const toolOf = toolFinder(host);
  return new Map<string, ViewRequestHandler>([
    ["ping", async () => ({})],
    ["tools/call", (params, signal) => callTool(host, toolOf, params, signal)],
    ["resources/read", (params, signal) => readResource(host, params, signal)],
    ["ui/open-link", (params, signal) => openLink(host, params, signal)],
    ["ui/message", (params, signal) => sendMessage(host, params, signal)],
    ["ui/update-model-context", (params, signal) => updateModelContext(host, params, signal)],
    ["ui/request-display-mode", (params, signal) => changeDisplayMode(host, params, signal)],
  ]);
}

async function callTool(
  { hooks, server }: ViewRequestContext,
  toolOf: FindTool,
  { name, arguments: args = {} }: Params,
  signal: AbortSignal,
): Promise<object> {
  const { mayCallTool } = hooks;
  if (server === undefined || mayCallTool === undefined) throw notOffered("tools/call");
  if (typeof name !== "string" || !isObject(args))
    throw invalid("tools/call needs a string as `name` and an object as `arguments`");
  const tool = await toolOf(name, server, signal);
  // The same error for unknown tools and for tools that only models may call, so that an app cannot probe for tools.
  if (tool === undefined || !mayBeCalledByApp(tool))
    throw invalid(`no tool named ${JSON.stringify(name)} is available to apps`);
  if (!(await mayCallTool({ tool, arguments: args, signal }))) throw denied("the call of this tool");
  signal.throwIfAborted();
  return server.callTool(name, args, { signal });
}

async function readResource(
  { hooks, server }: ViewRequestContext,
  { uri }: Params,
  signal: AbortSignal,
): Promise<object> {
  const { mayReadResource } = hooks;
  if (server === undefined || mayReadResource === undefined) throw notOffered("resources/read");
  if (typeof uri !== "string" || !URL.canParse(uri)) throw invalid("resources/read needs a `uri`");
  if (!(await mayReadResource(uri, signal))) throw denied("reading this resource");
  signal.throwIfAborted();
  return server.readResource(uri, { signal });
}

async function openLink({ hooks }: ViewRequestContext, { url }: Params, signal: AbortSignal): Promise<object> {
  if (hooks.openLink === undefined) throw notOffered("ui/open-link");
  if (!isWebAddress(url) || new URL(url).protocol !== "https:") throw invalid("`url` is not an https address");
  // Normalized, so that the user sees the URL that will be opened.
  if (!(await hooks.openLink(new URL(url).href, signal))) throw denied("this link");
  return {};
}

async function sendMessage(
  { hooks }: ViewRequestContext,
  { role, content }: Params,
  signal: AbortSignal,
): Promise<object> {
  if (hooks.sendMessage === undefined) throw notOffered("ui/message");
  // Accept one block or a list: the specification's text shows one block, its schema a list.
  const blocks = readBlocks(Array.isArray(content) ? content : [content]);
  if (role !== "user" || blocks === undefined || blocks.length === 0) {
    throw invalid('ui/message needs the `role` "user" and `content`');
  }
  if (!(await hooks.sendMessage({ role, content: blocks }, signal))) throw denied("this message");
  return {};
}

async function updateModelContext({ hooks }: ViewRequestContext, params: Params, signal: AbortSignal): Promise<object> {
  if (hooks.updateModelContext === undefined) throw notOffered("ui/update-model-context");
  const { content, structuredContent } = params;
  const blocks = content === undefined ? undefined : Array.isArray(content) ? readBlocks(content) : undefined;
  if (content !== undefined && blocks === undefined) throw invalid("`content` is not a list of content blocks");
  if (structuredContent !== undefined && !isObject(structuredContent))
    throw invalid("`structuredContent` is not an object");
  const context: UiModelContext = {
    ...(blocks === undefined ? {} : { content: blocks }),
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
  if (!(await hooks.updateModelContext(context, signal))) throw denied("this context");
  return {};
}

async function changeDisplayMode(host: ViewRequestContext, { mode }: Params, signal: AbortSignal): Promise<object> {
  if (!isDisplayMode(mode)) throw invalid("`mode` is not a display mode");
  const { displayMode: current = "inline", availableDisplayModes = [] } = host.context;
  const supports = (one: UiDisplayMode) => host.appModes?.includes(one) ?? true;
  const offered = availableDisplayModes.includes(mode) && supports(mode);
  if (!offered || mode === current || host.hooks.changeDisplayMode === undefined) return { mode: current };
  const now = await host.hooks.changeDisplayMode(mode, signal);
  const resulting = isDisplayMode(now) && supports(now) ? now : current;
  if (resulting !== current) host.changeContext({ displayMode: resulting });
  return { mode: resulting };
}

function isDisplayMode(value: unknown): value is UiDisplayMode {
  return DISPLAY_MODES.includes(value);
}

function readBlocks(content: readonly unknown[]): ContentBlock[] | undefined {
  return content.length <= MAX_BLOCKS && content.every(isContentBlock) ? [...content] : undefined;
}

function notOffered(method: string): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `this host does not offer ${method}`);
}

function invalid(what: string): RpcError {
  return new RpcError(INVALID_PARAMS, what);
}

function denied(what: string): RpcError {
  return new RpcError(DENIED, `${what} was denied`);
}

/** Time for which a tool list is cached. Limited, because a server may later hide a tool from apps. */
const TOOLS_FRESH_MS = 30_000;
/** Maximum number of tools of one server that are searched. Apps cannot call further tools. */
const MAX_TOOLS = 10_000;

/** Finds a tool of the server by name. Rejects with the signal's reason when the signal aborts. */
type FindTool = (name: string, server: AppServer, signal: AbortSignal) => Promise<Tool | undefined>;

type ToolsByName = ReadonlyMap<string, Tool>;

/** A tool list that is being read, with the number of requests that wait for it. */
interface SharedToolList {
  readonly tools: Promise<ToolsByName>;
  readonly abort: AbortController;
  waiting: number;
}

/** Creates a finder whose concurrent requests share one list. Reading stops when no request waits for the list. */
function toolFinder({ now }: { now(): number }): FindTool {
  let listed: ToolsByName = new Map();
  let until = Number.NEGATIVE_INFINITY;
  let listing: SharedToolList | undefined;
  const begin = (server: AppServer): SharedToolList => {
    const abort = new AbortController();
    const read = async () => {
      try {
        const found = await toolsOf(server, abort.signal);
        if (listing === begun) {
          listed = found;
          until = now() + TOOLS_FRESH_MS;
        }
        return found;
      } finally {
        if (listing === begun) listing = undefined;
      }
    };
    const begun: SharedToolList = { abort, waiting: 0, tools: read() };
    return begun;
  };
  return async (name, server, signal) => {
    if (now() < until) return listed.get(name);
    listing ??= begin(server);
    const shared = listing;
    shared.waiting += 1;
    try {
      return (await orAborted(shared.tools, signal)).get(name);
    } finally {
      shared.waiting -= 1;
      if (shared.waiting === 0) {
        if (listing === shared) listing = undefined;
        shared.abort.abort();
      }
    }
  };
}

async function toolsOf(server: AppServer, signal: AbortSignal): Promise<ToolsByName> {
  const found = new Map<string, Tool>();
  for await (const tool of server.tools({ signal })) {
    found.set(tool.name, tool);
    if (found.size >= MAX_TOOLS) break;
  }
  return found;
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const remove = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(remove);
  });
}
