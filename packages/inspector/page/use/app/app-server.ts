import type { AppServer } from "@parley/mcp/apps";
import type { CallToolResult, ReadResourceResult, Tool } from "@parley/mcp/protocol";
import { callAndWait, resultOf } from "../call-outcomes.js";

/** Maximum number of pages of the tool list that are read for an app. Later pages are ignored. */
const MAX_PAGES = 200;

/**
 * Gives an app access to the server of a connection, through the inspector, so that the timeline contains every
 * message.
 */
export function appServer(connection: string): AppServer {
  const never = new AbortController().signal;
  return {
    async *tools(options) {
      let cursor: unknown;
      for (let page = 0; page < MAX_PAGES; page++) {
        const params = cursor === undefined ? {} : { cursor };
        const outcome = await callAndWait(
          connection,
          { kind: "request", method: "tools/list", params },
          options?.signal ?? never,
        );
        const { tools, nextCursor } = resultOf(outcome);
        // Unvalidated: `showApp` reads only the names and the visibility.
        yield* (Array.isArray(tools) ? tools : []) as Tool[];
        if (typeof nextCursor !== "string") return;
        cursor = nextCursor;
      }
    },
    async callTool(name, args, { signal }) {
      const request = { kind: "tool", name, arguments: { ...args } } as const;
      // The client of the connection has validated the result.
      return resultOf(await callAndWait(connection, request, signal)) as unknown as CallToolResult;
    },
    async readResource(uri, { signal }) {
      // The client of the connection has validated the result.
      return resultOf(
        await callAndWait(connection, { kind: "resource", uri }, signal),
      ) as unknown as ReadResourceResult;
    },
  };
}
