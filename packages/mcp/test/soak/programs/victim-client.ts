// A client that calls a server which never stops talking, and says how the call ended.
import { connect, McpError, type Target } from "@parley/mcp";
import { answerCommands } from "./answer-commands.js";

/** How a call ended, and when. */
export interface Ending {
  kind: string;
  message: string;
  ms: number;
}

async function call(target: string | { command: string; args: string[] }): Promise<Ending> {
  const since = performance.now();
  // What is known of the server spares it all questions but the one that is attacked.
  const prior = { revision: "2026-07-28", capabilities: { tools: {} } } as const;
  const client = await connect(target as Target, { prior, resend: "never", onWarning() {} });
  try {
    await client.callTool("anything", {}, { timeouts: { idleMs: 60_000 } });
    return { kind: "answered", message: "", ms: performance.now() - since };
  } catch (error) {
    const { kind, message } = McpError.from(error);
    return { kind, message, ms: performance.now() - since };
  } finally {
    await client.close();
  }
}

answerCommands({}, { call });
