import { type Login, parametersOf } from "../../auth/client/login.js";
import { hookResult } from "../../auth/discovery/steps.js";
import { builtin } from "../builtin.js";
import { attemptWith, CallbackListener } from "./browser-login.js";

/** Options for `terminalLogin`. */
export interface TerminalLoginOptions {
  /** The port on this machine that the browser comes back to; fixed, so that it can be forwarded. Default: 33418. */
  port?: number | undefined;
  /** Where the user is asked. Default: stderr, because stdout may belong to a protocol. */
  output?: { write(text: string): unknown } | undefined;
  /** Reads the line that the user pastes; `signal` aborts when it is no longer needed. Default: stdin. */
  ask?: ((prompt: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** How long the user may take, in milliseconds. Default: 5 min. */
  timeoutMs?: number | undefined;
}

const PORT = 33_418;
const TIMEOUT_MS = 300_000;

/**
 * Logs in from a machine without a browser: prints the address, and the line that forwards the port of the redirect over SSH. Where that
 * is not possible, the user pastes the address that the browser ended at.
 */
export function terminalLogin(options: TerminalLoginOptions = {}): Login {
  const { port = PORT, output = process.stderr, timeoutMs = TIMEOUT_MS, ask = readLine } = options;
  return {
    kind: "redirect",
    applicationType: "native",
    begin: async (signal) => {
      const listener = await CallbackListener.open(port, "/callback");
      const also = async (url: string, ended: AbortSignal) => {
        await hookResult("output.write", () => output.write(instructions(url, listener.port)));
        return parametersOf(await hookResult("ask", () => ask("Address: ", ended)));
      };
      return attemptWith(listener, also, timeoutMs, signal);
    },
  };
}

/** What the user reads. The address was made by `URL`, so that nothing in it can control a terminal. */
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
