import { McpError } from "@parley/mcp";
import type { OpenOptions } from "./open-target.js";

/**
 * Handlers for commands that examine a server's offers. They declare elicitation and sampling, as `parley list` and
 * most applications do, and decline every request. Without these capabilities, a server may hide tools, and the command
 * would not examine those tools.
 */
export const DECLINE_QUESTIONS: OpenOptions = {
  onElicit: async () => ({ action: "decline" }),
  onSample: () =>
    Promise.reject(
      new McpError("declined", "questions are declined while a server is examined", {
        fix: "Use `parley call` to answer.",
      }),
    ),
};
