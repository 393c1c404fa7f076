import { fetchSender } from "../http/fetch-sender.js";
import { McpError } from "../protocol/error.js";
import type { RuntimeTransports } from "./runtime-transports.js";

/** The transports of runtimes that only have web standards. */
export const transports: RuntimeTransports = {
  command({ command }) {
    throw new McpError("unsupported", `this runtime cannot start "${command}": it has no processes`, {
      fix: "Connect by URL, or run the program in Node, Bun or Deno with the package condition `node`.",
    });
  },
  sender: (platform) => fetchSender(platform.fetch),
};
