import { Server } from "@parley/mcp";
import type { HostServer } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";
import { bundleFixture } from "../../stdio/bundle-fixture.js";

/** Restarts that a test can wait for. */
export const QUICK = { backOff: { firstMs: 50, longestMs: 100 }, retryMs: 200 } as const;

let program: Promise<string> | undefined;

/** A server of its own process, with what is wrong with it. */
export async function stdioServer(name: string, ...fault: string[]): Promise<HostServer> {
  program ??= bundleFixture(new URL("./hosted-program.ts", import.meta.url));
  return { command: process.execPath, args: [await program, name, ...fault] };
}

/** A small server of this process. */
export function localServer(name: string): Server {
  return new Server({ name, version: "1.0.0" })
    .tool("whoami", { annotations: { readOnlyHint: true } }, () => name)
    .resource("note://one", {}, () => `note of ${name}`)
    .prompt("greet", { arguments: { who: { required: true } } }, ({ who }) => `greet ${who} from ${name}`) as Server;
}

/** A server over HTTP on a port that was chosen, or on any. */
export function httpServer(name: string, port = 0) {
  return serveHttp(localServer(name), { port });
}
