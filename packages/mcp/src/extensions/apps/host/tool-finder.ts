import type { Tool } from "../../../protocol/features/tools.js";
import type { AppServer } from "./app-options.js";

/** How long a list of tools is good for; it is read again afterwards, because a server may take a tool away from apps. */
const TOOLS_FRESH_MS = 30_000;
/** Tools of one server that are looked at. */
const MAX_TOOLS = 10_000;

/** Finds a tool of the server by its name. Rejects with the reason of the signal when it is aborted. */
export type FindTool = (name: string, server: AppServer, signal: AbortSignal) => Promise<Tool | undefined>;

type ToolsByName = ReadonlyMap<string, Tool>;

/** A list that is being read, and how many wait for it. */
interface Listing {
  readonly tools: Promise<ToolsByName>;
  readonly abort: AbortController;
  waiting: number;
}

/** Makes a finder, whose requests share one list. Reading it ends when nobody waits for it any more. */
export function toolFinder({ now }: { now(): number }): FindTool {
  let listed: ToolsByName = new Map();
  let until = Number.NEGATIVE_INFINITY;
  let listing: Listing | undefined;
  const begin = (server: AppServer): Listing => {
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
    const begun: Listing = { abort, waiting: 0, tools: read() };
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

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => signal.removeEventListener("abort", give);
    const give = () => reject(signal.reason);
    signal.addEventListener("abort", give);
    if (signal.aborted) give();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}
