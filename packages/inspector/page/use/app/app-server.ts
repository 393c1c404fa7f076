import type { AppServer } from "@parley/mcp/apps";
import type { CallToolResult, ReadResourceResult, Tool } from "@parley/mcp/protocol";
import { callToItsEnd, resultOf } from "../call-outcomes.js";

/** Pages of a list that are read for an app. */
const MOST_PAGES = 200;

/** What an app may use of the server of a connection, through the inspector, so that the timeline has every message. */
export function appServer(connection: string): AppServer {
  const never = new AbortController().signal;
  return {
    async *tools(options) {
      let cursor: unknown;
      for (let page = 0; page < MOST_PAGES; page++) {
        const params = cursor === undefined ? {} : { cursor };
        const outcome = await callToItsEnd(
          connection,
          { kind: "request", method: "tools/list", params },
          options?.signal ?? never,
        );
        const { tools, nextCursor } = resultOf(outcome);
        // As the server lists them: `showApp` reads their names and for whom they are.
        yield* (Array.isArray(tools) ? tools : []) as Tool[];
        if (typeof nextCursor !== "string") return;
        cursor = nextCursor;
      }
    },
    async callTool(name, args, { signal }) {
      const request = { kind: "tool", name, arguments: { ...args } } as const;
      // The client of the connection has checked the result.
      return resultOf(await callToItsEnd(connection, request, signal)) as unknown as CallToolResult;
    },
    async readResource(uri, { signal }) {
      // The client of the connection has checked the result.
      return resultOf(
        await callToItsEnd(connection, { kind: "resource", uri }, signal),
      ) as unknown as ReadResourceResult;
    },
  };
}
