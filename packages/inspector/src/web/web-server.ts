import type { Server } from "node:http";
import { McpError } from "@parley/mcp";
import type { InspectorEngine } from "../engine/inspector-engine.js";
import { Credentials } from "./credentials.js";
import { closeServer, type ListenLimits, listenOnLoopback, portOf } from "./listen.js";
import { pageFiles } from "./page-files.js";
import { RequestAnswers } from "./request-answers.js";
import { openSandboxListener } from "./sandbox-listener.js";
import { securityHeaders } from "./security-headers.js";

/** What a web server is started with. */
export interface WebServerOptions {
  readonly port: number;
  /** The folder with the built page. */
  readonly pageFolder: string;
  /** Called whenever a page has begun to follow the events. */
  readonly onFollowed?: (() => void) | undefined;
  readonly limits?: Partial<ListenLimits> | undefined;
}

/** A web server that listens. */
export interface WebServer {
  /** The address of the page, with the token. */
  readonly url: string;
  /** Stops to serve; streams of events end. */
  close(): Promise<void>;
}

/** Serves an engine and its page to browsers of this machine. Rejects with an `McpError` if the port is taken or there is no page. */
export async function openWebServer(engine: InspectorEngine, options: WebServerOptions): Promise<WebServer> {
  const page = pageFiles(options.pageFolder);
  const sandbox = await openSandboxListener();
  let answers: RequestAnswers | undefined;
  const server = await listen(options, (request, response) => {
    // A connection that is lost in the middle of a request has nobody left to be told.
    answers?.answer(request, response).catch(() => response.destroy());
  }).catch(async (reason: unknown) => {
    await sandbox.close();
    throw reason;
  });
  const port = portOf(server);
  const credentials = new Credentials(port);
  sandbox.serveFor([`http://127.0.0.1:${port}`, `http://localhost:${port}`]);
  engine.sandboxIs(sandbox.url);
  const { onFollowed } = options;
  const headers = securityHeaders(sandbox.origin);
  const serving = new RequestAnswers({ engine, page, credentials, port, headers, onFollowed });
  answers = serving;
  return {
    url: `http://127.0.0.1:${port}/?token=${credentials.token}`,
    close: async () => {
      serving.endStreams();
      await Promise.all([closeServer(server), sandbox.close()]);
    },
  };
}

async function listen(
  { port, limits }: WebServerOptions,
  answer: Parameters<typeof listenOnLoopback>[1],
): Promise<Server> {
  try {
    return await listenOnLoopback(port, answer, { limits });
  } catch (cause) {
    throw new McpError("misuse", `port ${port} cannot be listened on (${String(cause)})`, {
      fix: "Choose another port, or 0 for a free one.",
      cause,
    });
  }
}
