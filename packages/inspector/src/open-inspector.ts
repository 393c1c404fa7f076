import { McpError } from "@parley/mcp";
import { MAX_CONNECTIONS } from "./connections/connections.js";
import { type OpenedEngine, openEngine } from "./engine/open-engine.js";
import type { Inspector, InspectorOptions } from "./inspector-options.js";
import { openWebServer } from "./web/web-server.js";

/** Maximum time to wait for the first page before connecting to the targets. */
const WAIT_FOR_PAGE_MS = 1_000;

/** Starts an inspector. `pageFolder` is the page folder of the built package, or a folder of a test. */
export async function openInspector(options: InspectorOptions, pageFolder: string): Promise<Inspector> {
  if ((options.targets ?? []).length > MAX_CONNECTIONS) {
    throw new McpError("invalid_definition", `there are more than ${MAX_CONNECTIONS} targets`, { fix: "Pass fewer." });
  }
  const engine = openEngine(options, pageFolder);
  const targets = deferConnecting(engine);
  const { port = 0 } = options;
  const web = await openWebServer(engine, { port, pageFolder, onStreamOpened: targets.connect }).catch(
    async (reason: unknown) => {
      targets.cancel();
      await engine.close();
      throw reason;
    },
  );
  let ended = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let closing: Promise<void> | undefined;
  return {
    url: web.url,
    closed,
    close: () => {
      targets.cancel();
      closing ??= Promise.allSettled([web.close(), engine.close()]).then(ended);
      return closing;
    },
  };
}

/**
 * Delays connecting until a page has loaded, for at most `WAIT_FOR_PAGE_MS`. Loading a target, such as compiling its
 * module, would otherwise block the first page load.
 */
function deferConnecting(engine: OpenedEngine): { connect(): void; cancel(): void } {
  let isDone = false;
  const cancel = () => {
    isDone = true;
    clearTimeout(timer);
  };
  const connect = () => {
    if (isDone) return;
    cancel();
    engine.connectTargets();
  };
  const timer = setTimeout(connect, WAIT_FOR_PAGE_MS);
  return { connect, cancel };
}
