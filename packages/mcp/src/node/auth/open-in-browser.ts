import { isWebAddress } from "../../encoding/web-address.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";

/** The program that opens an address, and what it is told before it. */
const OPENERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Starts a program; replaced in tests. */
export type StartProgram = (command: string, args: readonly string[]) => void;

/**
 * Opens an address in the user's browser. Only `https`, and `http` on this machine, and never through a shell: the address is one
 * argument, whatever it contains. Throws an `McpError` for other addresses and where no opener is known.
 */
export function openInBrowser(address: string, start: StartProgram = startDetached): void {
  if (!isWebAddress(address)) {
    throw new McpError("misuse", "this address must not be opened", {
      fix: "Open only https addresses, or http on this machine, without a user name and control characters.",
    });
  }
  const opener = OPENERS[process.platform];
  if (opener === undefined) {
    throw new McpError("unsupported", `no program is known that opens addresses on ${process.platform}`, {
      fix: "Print the address for the user instead.",
    });
  }
  const [command, ...args] = opener;
  // Spelled by the parser, so that nothing is left that another program might read differently.
  start(command, [...args, new URL(address).href]);
}

function startDetached(command: string, args: readonly string[]): void {
  const child = builtin("node:child_process").spawn(command, [...args], {
    detached: true,
    stdio: "ignore",
    shell: false,
  });
  // Without an opener the user still has the address.
  child.on("error", () => {});
  child.unref();
}
