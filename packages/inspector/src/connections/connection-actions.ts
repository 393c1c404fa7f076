import { connect } from "@parley/mcp";
import { LOG_LEVELS, McpError, REVISIONS, type Revision, type Root } from "@parley/mcp/protocol";
import { isSecretName, looksSecret, Redactor } from "@parley/mcp/recording";
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
import type { InspectorTarget } from "./inspector-target.js";

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

/** An address that the user typed into the page. */
interface TypedAddress {
  readonly url: string;
  /** Default: found out. */
  readonly transport?: "http" | "sse" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Characters of an address. */
const MOST_URL = 8_192;
const MOST_HEADERS = 64;
/** Characters of the value of a header. */
const MOST_VALUE = 16_384;
/** Shorter values of other headers are words, which would be taken out of everything that is shown. */
const SHORTEST_SECRET = 8;

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** The tab is the only control character of a header's value. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers of the transport itself, which would let one request become two or reach another host. */
const OWN_HEADERS = new Set([
  "accept",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "last-event-id",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Makes a target of an address. Throws `invalid_params` for what is no address of a server, and for headers that must not be set. */
export function urlTarget({ url, transport, headers = {} }: TypedAddress): InspectorTarget {
  const address = checkedAddress(url);
  const given = checkedHeaders(headers);
  const target = transport === undefined ? address.href : { url: address.href, transport };
  const hidden = secretParameters(address);
  return {
    kind: "url",
    shown: new Redactor({ values: hidden }).text(address.href),
    url: address.href,
    secrets: [...hidden, ...Object.entries(given).flatMap(secretsOfHeader)],
    authorized: given["authorization"] !== undefined,
    open: (options) =>
      connect(target, { ...options, ...(Object.keys(given).length === 0 ? {} : { headers: { ...given } }) }),
  };
}

function checkedAddress(text: string): URL {
  const url = text.length <= MOST_URL && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw refused(`${JSON.stringify(text.slice(0, 200))} is no address of a server`, "Give an http or https address.");
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("the address has a user name or a password", "Give them as the header `authorization`.");
  }
  return url;
}

function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()] as const);
  if (entries.length > MOST_HEADERS) throw refused(`there are more than ${MOST_HEADERS} headers`, "Give fewer.");
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name)) throw refused(`${JSON.stringify(name.slice(0, 100))} is no name of a header`, NAMES);
    if (OWN_HEADERS.has(name) || /^(?:mcp|proxy|sec)-/.test(name)) {
      throw refused(`the header ${name} is set by the transport`, "Leave it out.");
    }
    if (value.length > MOST_VALUE || !HEADER_VALUE.test(value)) {
      throw refused(
        `the value of ${name} is too long, or has a line break or other characters that headers lack`,
        NAMES,
      );
    }
  }
  return Object.fromEntries(entries);
}

const NAMES = "Names are letters, digits and hyphens; values are one line of printable characters.";

/** Secrets in the query of an address, both as they are written there and as they are meant. */
function secretParameters(url: URL): string[] {
  const found = url.search
    .slice(1)
    .split("&")
    .flatMap((pair) => {
      const [name = "", value = ""] = [...new URLSearchParams(pair)][0] ?? [];
      return isSecretName(name) || looksSecret(value) ? [pair.slice(pair.indexOf("=") + 1), value] : [];
    });
  return [...new Set(found)].filter((value) => value !== "");
}

/** Credentials are also known without their scheme. */
function secretsOfHeader([name, value]: readonly [string, string]): string[] {
  if (!isSecretName(name) && value.length < SHORTEST_SECRET) return [];
  const [, ...rest] = value.split(" ");
  return [value, ...rest].filter((part) => part.length >= SHORTEST_SECRET || part === value);
}

function refused(message: string, fix: string): McpError {
  return new McpError("invalid_params", message, { fix });
}
