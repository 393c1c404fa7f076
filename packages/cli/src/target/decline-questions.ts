import { McpError } from "@parley/mcp";
import type { OpenOptions } from "./open-target.js";

/**
 * For commands that examine what a server offers: declares that questions can be asked, as `parley list` and most applications do,
 * and declines each. Servers may show other tools to clients that cannot be asked, and those would escape the examination.
 */
export const DECLINE_QUESTIONS: OpenOptions = {
  onElicit: async () => ({ action: "decline" }),
  onSample: () =>
    Promise.reject(
      new McpError("declined", "nobody answers while a server is examined", { fix: "Use `parley call` to answer." }),
    ),
};
