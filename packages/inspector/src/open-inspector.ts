import { openEngine } from "./engine/open-engine.js";
import type { Inspector, InspectorOptions } from "./inspector-options.js";
import { openWebServer } from "./web/web-server.js";

/** Starts an inspector whose page is in a folder: of the built package, or of a test. */
export async function openInspector(options: InspectorOptions, pageFolder: string): Promise<Inspector> {
  const engine = openEngine(options, pageFolder);
  const web = await openWebServer(engine, { port: options.port ?? 0, pageFolder }).catch(async (reason: unknown) => {
    await engine.close();
    throw reason;
  });
  engine.connectTargets();
  let ended = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let closing: Promise<void> | undefined;
  return {
    url: web.url,
    closed,
    close: () => {
      closing ??= Promise.allSettled([web.close(), engine.close()]).then(ended);
      return closing;
    },
  };
}
