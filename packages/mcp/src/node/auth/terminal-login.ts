import { type Login, parametersOf } from "../../auth/client/login.js";
import { hookResult } from "../../auth/discovery/steps.js";
import { builtin } from "../builtin.js";
import { attemptWith, CallbackListener } from "./browser-login.js";

/** Options for `terminalLogin`. */
export interface TerminalLoginOptions {
  /** Loopback port of the redirect address. Default: 33418, a fixed port, so that the user can forward it. */
  port?: number | undefined;
  /** Stream that receives the instructions. Default: stderr, because stdout may carry a protocol. */
  output?: { write(text: string): unknown } | undefined;
  /** Reads the line that the user pastes. `signal` aborts when the line is no longer needed. Default: reads stdin. */
  ask?: ((prompt: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** Time that the user has to log in, in milliseconds. Default: 5 minutes. */
  timeoutMs?: number | undefined;
}

const PORT = 33_418;
const TIMEOUT_MS = 300_000;

/**
 * Logs in from a machine without a browser. Prints the login address, and the SSH command that forwards the port of the
 * redirect. If forwarding is not possible, the user pastes the address that the browser shows after the login.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/logging-in.md | Logging in}
 */
export function terminalLogin(options: TerminalLoginOptions = {}): Login {
  const { port = PORT, output = process.stderr, timeoutMs = TIMEOUT_MS, ask = readLine } = options;
  return {
    kind: "redirect",
    applicationType: "native",
    begin: async (signal) => {
      const listener = await CallbackListener.open(port, "/callback");
      const showOrAsk = async (url: string, ended: AbortSignal) => {
        await hookResult("output.write", () => output.write(instructions(url, listener.port)));
        return parametersOf(await hookResult("ask", () => ask("Address: ", ended)));
      };
      return attemptWith(listener, showOrAsk, timeoutMs, signal);
    },
  };
}

/**
 * The instructions for the user. The address was serialized by `URL`, so it contains no terminal control characters.
 */
function instructions(url: string, port: number): string {
  const os = builtin("node:os");
  const forward = `ssh -L ${port}:127.0.0.1:${port} ${os.userInfo().username}@${os.hostname()}`;
  return [
    "Open this address in a browser to log in:",
    `  ${url}`,
    "If the browser is on another machine, run this there first:",
    `  ${forward}`,
    "Or paste the address that the browser ends at, even if it shows an error:",
    "",
  ].join("\n");
}

async function readLine(prompt: string, signal: AbortSignal): Promise<string> {
  const reader = builtin("node:readline/promises").createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await reader.question(prompt, { signal });
  } finally {
    reader.close();
  }
}
