import { LOG_LEVELS, McpError, REVISIONS, type Revision, type Root } from "@parley/mcp/protocol";
import type { ActionHandlers } from "../contract/actions.js";
import {
  choiceOf,
  isRecord,
  listOf,
  optionalChoiceOf,
  optionalTextOf,
  optionalTextsOf,
  textOf,
} from "../engine/read-input.js";
import type { Connections } from "./connections.js";
import { urlTarget } from "./url-target.js";

type ConnectionActionName =
  | "connect"
  | "connectUrl"
  | "reopen"
  | "disconnect"
  | "forget"
  | "logout"
  | "setRoots"
  | "setLogLevel";

const MOST_ROOTS = 100;
/** Characters of the address or the name of a root. */
const MOST_ROOT = 4_096;

/** What the page can do about connections. Connecting goes on afterwards: the state tells what came of it. */
export function connectionActions(connections: Connections): Pick<ActionHandlers, ConnectionActionName> {
  const connectionOf = (input: object) => connections.get(textOf(input, "connection"));
  return {
    connect: (input) => ({ connection: connections.connectTarget(textOf(input, "target"), revisionOf(input)).id }),
    connectUrl: (input) => {
      const target = urlTarget({
        url: textOf(input, "url"),
        transport: optionalChoiceOf(input, "transport", ["http", "sse"]),
        headers: optionalTextsOf(input, "headers"),
      });
      return { connection: connections.connectTo(target, revisionOf(input)).id };
    },
    reopen: (input) => {
      const connection = connectionOf(input);
      if (connection.info.status === "imported") {
        throw new McpError("invalid_params", "a recorded session has no server", { fix: "Replay it against one." });
      }
      const revision = input.revision === null ? undefined : (revisionOf(input) ?? connection.info.wanted);
      void connection.open(revision);
      return {};
    },
    disconnect: async (input) => {
      await connectionOf(input).close();
      return {};
    },
    forget: async (input) => {
      await connections.forget(textOf(input, "connection"));
      return {};
    },
    logout: async (input) => {
      await connectionOf(input).logout();
      return {};
    },
    setRoots: async (input) => {
      await connectionOf(input).setRoots(rootsIn(listOf(input, "roots")));
      return {};
    },
    setLogLevel: async (input) => {
      await connectionOf(input).setLogLevel(choiceOf(input, "level", LOG_LEVELS));
      return {};
    },
  };
}

function revisionOf(input: object): Revision | undefined {
  return optionalChoiceOf(input, "revision", REVISIONS);
}

function rootsIn(list: readonly unknown[]): Root[] {
  if (list.length > MOST_ROOTS) {
    throw new McpError("invalid_params", `there are more than ${MOST_ROOTS} roots`, { fix: "Give fewer." });
  }
  return list.map((item) => {
    const root = isRecord(item) ? item : {};
    const uri = textOf(root, "uri");
    const name = optionalTextOf(root, "name");
    if (uri.length > MOST_ROOT || (name ?? "").length > MOST_ROOT || !/^file:\/\//i.test(uri) || !URL.canParse(uri)) {
      throw new McpError("invalid_params", `${JSON.stringify(uri.slice(0, 200))} cannot be a root`, {
        fix: "Give a folder as a file:// address.",
      });
    }
    return { uri, ...(name === undefined || name === "" ? {} : { name }) };
  });
}
