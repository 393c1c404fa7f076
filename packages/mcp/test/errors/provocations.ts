import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, type ErrorKind, type HandlerContext, McpError, type Server, urlRequired } from "@parley/mcp";
import { oauth } from "@parley/mcp/auth";
import { z } from "zod";
import {
  answering,
  askingTool,
  type Cleanup,
  caught,
  linked,
  named,
  never,
  rejection,
  STATEFUL,
  STATELESS,
  served,
  withForeignServer,
  Yes,
} from "./parts.js";

/** Makes one kind of error happen through the public API, and gives the error. */
export interface Provocation {
  /** What the message must name. */
  readonly cause: RegExp;
  provoke(cleanup: Cleanup): Promise<unknown>;
}

const refusedBy = async (code: number, cleanup: Cleanup) => {
  const client = await withForeignServer(
    (_method, id) => JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "the JSON broke off" } }),
    cleanup,
  );
  return rejection(() => client.callTool("x"));
};

export const PROVOCATIONS: Record<ErrorKind, Provocation> = {
  parse_error: { cause: /the JSON broke off/, provoke: (cleanup) => refusedBy(-32700, cleanup) },
  invalid_request: {
    cause: /already initialized/,
    async provoke(cleanup) {
      const client = await linked(named(), cleanup, { revisions: [STATEFUL] });
      const params = { protocolVersion: STATEFUL, capabilities: {}, clientInfo: { name: "c", version: "1" } };
      return rejection(() => client.request("initialize", params));
    },
  },
  method_not_found: {
    cause: /"shop\/open"/,
    provoke: async (cleanup) => rejection(async () => (await linked(named(), cleanup)).request("shop/open")),
  },
  invalid_params: {
    cause: /unknown tool: sell/,
    async provoke(cleanup) {
      const client = await linked(named().tool("buy", {}, () => "") as Server, cleanup);
      return rejection(() => client.callTool("sell"));
    },
  },
  internal_error: {
    cause: /the till is jammed/,
    async provoke(cleanup) {
      const server = named().prompt("sum", {}, () => {
        throw new Error("the till is jammed");
      });
      return rejection(async () => (await linked(server, cleanup)).getPrompt("sum"));
    },
  },
  resource_not_found: {
    cause: /shop:\/\/7/,
    async provoke(cleanup) {
      const server = named().resourceTemplate("shop://{item}", {}, () => undefined);
      return rejection(async () => (await linked(server, cleanup)).readResource("shop://7"));
    },
  },
  header_mismatch: {
    cause: /Mcp-Name/i,
    async provoke(cleanup) {
      const url = await served(named().tool("buy", {}, () => "") as Server, cleanup);
      const meddling = (to: string, init: RequestInit = {}) => {
        const headers = new Headers(init.headers);
        if (headers.has("mcp-name")) headers.set("mcp-name", "sell");
        return fetch(to, { ...init, headers });
      };
      const client = await connect(url, { revisions: [STATELESS], fetch: meddling });
      cleanup(() => client.close());
      return rejection(() => client.callTool("buy"));
    },
  },
  capability_missing: {
    cause: /"elicitation\.form"/,
    async provoke(cleanup) {
      const client = await linked(
        askingTool((ctx) => ctx.elicit("Sure?", Yes)),
        cleanup,
        { revisions: [STATELESS] },
      );
      return rejection(() => client.callTool("ask"));
    },
  },
  unsupported_version: {
    cause: /refused the handshake.*supports 2026-07-28/,
    provoke: (cleanup) =>
      rejection(() => linked(named({ revisions: [STATELESS] }), cleanup, { revisions: [STATEFUL] })),
  },
  url_elicitation_required: {
    cause: /must sign in/,
    async provoke(cleanup) {
      const server = askingTool(() => {
        throw urlRequired([{ message: "Sign in", url: "https://example.com/login" }], "The user must sign in.");
      });
      const client = await linked(server, cleanup, { revisions: [STATEFUL], onElicit: () => ({ action: "accept" }) });
      return rejection(() => client.callTool("ask"));
    },
  },
  declined: {
    cause: /declined.*Sure\?/,
    provoke: (cleanup) =>
      caught((ctx) => ctx.elicit("Sure?", Yes), cleanup, { onElicit: () => ({ action: "decline" }) }),
  },
  dismissed: {
    cause: /dismissed.*Sure\?/,
    provoke: (cleanup) =>
      caught((ctx) => ctx.elicit("Sure?", Yes), cleanup, { onElicit: () => ({ action: "cancel" }) }),
  },
  question_changed: {
    cause: /did not ask the questions that the client answered/,
    async provoke(cleanup) {
      let round = 0;
      const server = askingTool((ctx) => ctx.elicit(`Sure, ${++round}?`, Yes));
      // Its place is the server: the client is told of an internal error with the same words.
      let error: unknown;
      server.observe({ ended: (call) => (error = call.error) });
      const onElicit = () => ({ action: "accept" as const, content: { yes: true } });
      const client = await linked(server, cleanup, { revisions: [STATELESS], onElicit });
      await rejection(() => client.call("ask"));
      return error;
    },
  },
  too_many_questions: {
    cause: /more than 1 questions at once/,
    async provoke(cleanup) {
      let error: unknown;
      const ask = async (ctx: HandlerContext) => {
        const asked = ["a", "b"].map((key) => ctx.elicit("Sure?", Yes, { key }));
        error = await rejection(() => asked[1]);
      };
      const server = askingTool(ask, { limits: { questions: 1 } });
      const onElicit = () => ({ action: "accept" as const, content: { yes: true } });
      await (await linked(server, cleanup, { revisions: [STATELESS], onElicit })).callTool("ask");
      return error;
    },
  },
  limit_exceeded: {
    cause: /more than 2 rounds/,
    async provoke(cleanup) {
      const server = askingTool(async (ctx) => {
        for (let at = 0; at < 9; at++) await ctx.elicit(`Sure, ${at}?`, Yes);
      });
      const onElicit = () => ({ action: "accept" as const, content: { yes: true } });
      const client = await linked(server, cleanup, { revisions: [STATELESS], onElicit, maxRounds: 2 });
      return rejection(() => client.call("ask"));
    },
  },
  timeout: {
    cause: /tools\/call passed its idle deadline of 20 ms/,
    async provoke(cleanup) {
      const client = await linked(named().tool("wait", {}, never) as Server, cleanup, { timeouts: { idleMs: 20 } });
      return rejection(() => client.callTool("wait"));
    },
  },
  cancelled: {
    cause: /tools\/call was cancelled/,
    async provoke(cleanup) {
      const client = await linked(named().tool("wait", {}, never) as Server, cleanup);
      return rejection(() => client.callTool("wait", {}, { signal: AbortSignal.abort() }));
    },
  },
  connection_closed: {
    cause: /the client is closed/,
    async provoke(cleanup) {
      const client = await linked(named(), cleanup);
      await client.close();
      return rejection(() => client.ping());
    },
  },
  connect_failed: {
    cause: /127\.0\.0\.1:1.*ECONNREFUSED/,
    provoke: () => rejection(() => connect("http://127.0.0.1:1/mcp")),
  },
  session_lost: {
    cause: /no longer knows this session/,
    async provoke(cleanup) {
      const server = named().tool("buy", {}, () => "bought") as Server;
      const url = await served(server, cleanup);
      const { port } = new URL(url);
      let lost = false;
      // A restart of the server, as a client sees it: the old session means nothing to the new process.
      const forgetting = (to: string, init: RequestInit = {}) => {
        const headers = new Headers(init.headers);
        if (lost && headers.has("mcp-session-id")) headers.set("mcp-session-id", "from-before-the-restart");
        return fetch(to, { ...init, headers });
      };
      const options = { revisions: [STATEFUL], resend: "never", fetch: forgetting } as const;
      const client = await connect(`http://localhost:${port}/mcp`, options);
      cleanup(() => client.close());
      lost = true;
      return rejection(() => client.callTool("buy"));
    },
  },
  transport_error: {
    cause: /502/,
    provoke: async (cleanup) => {
      const url = await answering(cleanup, 502, { "content-type": "text/html" }, "<h1>Bad Gateway</h1>");
      return rejection(() => connect(url));
    },
  },
  decode_error: {
    cause: /a foreign server.*Listening/,
    async provoke(cleanup) {
      const client = await withForeignServer(() => "Listening on port 3000", cleanup);
      const fault = new Promise<unknown>((resolve) => client.on("fault", resolve));
      client.callTool("x").catch(() => {});
      return fault;
    },
  },
  oversized_frame: {
    cause: /2000 bytes/,
    async provoke(cleanup) {
      const url = await served(named().tool("big", {}, () => "x".repeat(5000)) as Server, cleanup);
      const client = await connect(url, { maxMessageBytes: 2000 });
      cleanup(() => client.close());
      return rejection(() => client.callTool("big"));
    },
  },
  invalid_response: {
    cause: /tools\/call is not an object/,
    async provoke(cleanup) {
      const client = await withForeignServer(
        (_method, id) => JSON.stringify({ jsonrpc: "2.0", id, result: 5 }),
        cleanup,
      );
      return rejection(() => client.callTool("x"));
    },
  },
  invalid_schema: {
    cause: /"address" must be a string, number, integer, boolean/,
    async provoke(cleanup) {
      // The compiler refuses it too.
      const nested = z.object({ address: z.object({ street: z.string() }) });
      return caught((ctx) => ctx.elicit("Where?", nested as never), cleanup, {
        onElicit: () => ({ action: "cancel" }),
      });
    },
  },
  invalid_definition: {
    cause: /the tool "buy" exists already/,
    provoke: () =>
      rejection(() =>
        named()
          .tool("buy", {}, () => "")
          .tool("buy", {}, () => ""),
      ),
  },
  misuse: {
    cause: /"over there" is not a valid URL/,
    provoke: (cleanup) =>
      caught((ctx) => ctx.elicitUrl("Pay", "over there"), cleanup, { onElicit: () => ({ action: "accept" }) }),
  },
  tool_error: {
    cause: /sold out/,
    async provoke(cleanup) {
      const server = askingTool(() => {
        throw new Error("sold out");
      });
      return rejection(async () => (await linked(server, cleanup)).call("ask"));
    },
  },
  authorization_failed: {
    cause: /names no authorization server/,
    async provoke(cleanup) {
      const http = createServer((request, response) => {
        const isMetadata = request.url?.includes("well-known") === true;
        const body = isMetadata ? JSON.stringify({ resource: `http://${request.headers.host}/mcp` }) : "";
        response.writeHead(isMetadata ? 200 : 401, { "content-type": "application/json" }).end(body);
      });
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      cleanup(() => http.close());
      return rejection(() =>
        connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, { auth: oauth() }),
      );
    },
  },
  auth_required: {
    cause: /401/,
    async provoke(cleanup) {
      const url = await served(named(), cleanup, { authenticate: () => ({ status: 401, message: "who is it?" }) });
      return rejection(() => connect(url));
    },
  },
  insufficient_scope: {
    cause: /shop:write/,
    async provoke(cleanup) {
      const server = named().tool("buy", { scopes: ["shop:write"] }, () => "") as Server;
      const authenticate = () => ({ key: "ada", scopes: ["shop:read"] });
      const client = await connect(await served(server, cleanup, { authenticate }), { revisions: [STATELESS] });
      cleanup(() => client.close());
      return rejection(() => client.callTool("buy"));
    },
  },
  unsupported: {
    cause: /start/,
    // A runtime without processes.
    provoke: () => rejection(() => connect({ command: "anything" }, { platform: { spawn: undefined } as object })),
  },
  peer_error: {
    cause: /closed for lunch/,
    async provoke(cleanup) {
      const server = named().prompt("sum", {}, () => {
        throw new McpError("internal_error", "closed for lunch", { code: 4711 });
      });
      return rejection(async () => (await linked(server, cleanup)).getPrompt("sum"));
    },
  },
};
