import { fetchSender } from "../http/fetch-sender.js";
import { McpError } from "../protocol/error.js";
import type { RuntimeTransports } from "./runtime-transports.js";

/** For runtimes that have web standards and nothing else. */
export const transports: RuntimeTransports = {
  command({ command }) {
    throw new McpError("unsupported", `this runtime cannot start "${command}": it has no processes`, {
      fix: "Connect by URL, or run this where Node, Bun or Deno loads the package by its `node` condition.",
    });
  },
  sender: (platform) => fetchSender(platform.fetch),
};
