import { McpError } from "@parley/mcp";
import { MOST_CONNECTIONS } from "./connections/connections.js";
import { type OpenedEngine, openEngine } from "./engine/open-engine.js";
import type { Inspector, InspectorOptions } from "./inspector-options.js";
import { openWebServer } from "./web/web-server.js";

/** Targets are connected when the first page is there, or after this time without one. */
const WAIT_FOR_PAGE_MS = 1_000;

/** Starts an inspector whose page is in a folder: of the built package, or of a test. */
export async function openInspector(options: InspectorOptions, pageFolder: string): Promise<Inspector> {
  if ((options.targets ?? []).length > MOST_CONNECTIONS) {
    throw new McpError("invalid_definition", `there are more than ${MOST_CONNECTIONS} targets`, { fix: "Pass fewer." });
  }
  const engine = openEngine(options, pageFolder);
  const targets = connectingLater(engine);
  const { port = 0 } = options;
  const web = await openWebServer(engine, { port, pageFolder, onFollowed: targets.connect }).catch(
    async (reason: unknown) => {
      targets.forget();
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
      targets.forget();
      closing ??= Promise.allSettled([web.close(), engine.close()]).then(ended);
      return closing;
    },
  };
}

/** Lets the page come first: what a target loads, such as a compiler for its module, would keep the browser waiting. */
function connectingLater(engine: OpenedEngine): { connect(): void; forget(): void } {
  let isDone = false;
  const forget = () => {
    isDone = true;
    clearTimeout(timer);
  };
  const connect = () => {
    if (isDone) return;
    forget();
    engine.connectTargets();
  };
  const timer = setTimeout(connect, WAIT_FOR_PAGE_MS);
  return { connect, forget };
}
