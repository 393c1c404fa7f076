import { connect } from "@parley/mcp";
import type { Revision } from "@parley/mcp/protocol";
import type { CopiedRequest } from "../../src/copy/copied-request.js";
import { AUTHORIZATION, type EchoServer } from "./echo-server.js";

/** Arguments that hurt whoever quotes them carelessly. */
export const HOSTILE_ARGUMENTS: Readonly<Record<string, unknown>> = JSON.parse(
  JSON.stringify({
    quotes: "it's \"quoted\" `id` $(touch pwned) $\u007bHOME} \\ \\n '\\''",
    lines: "one\ntwo\r\n\tthree\u0000four",
    terminal: "\u001b[201~\u001b]0;x\u0007\u009b31m\u007f\u202e\u2028",
    words: "! ~ * ? {a,b} [x] ; & | < > ( ) # %s %n = ^",
    "-dash": "--help",
    "@file": "@/etc/hostname",
    "name=value": "<<JSON\nJSON\nEOF",
    unicode: "é 日本 😀 \ud800",
    nested: { list: [1, -0.5, 1e21, true, null, [], {}], "": "" },
  }),
);

/** What a client sends when `ask` uses it, with the headers that the server saw. */
export async function copiedFrom(
  server: EchoServer,
  revision: Revision,
  ask: (client: Awaited<ReturnType<typeof connect>>) => Promise<unknown>,
): Promise<CopiedRequest> {
  let message: Readonly<Record<string, unknown>> = {};
  const client = await connect(server.url, {
    revisions: [revision],
    headers: { Authorization: AUTHORIZATION, "X-Team": 'it\'s "us" $HOME' },
    onMessage: ({ direction, message: each }) => {
      if (direction === "sent") message = each;
    },
  });
  try {
    await ask(client);
    const headers = server.lastHeaders();
    return { message, target: { kind: "url", shown: server.url, url: server.url }, revision, headers };
  } finally {
    await client.close();
  }
}
