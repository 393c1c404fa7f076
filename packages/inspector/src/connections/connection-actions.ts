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

const MAX_ROOTS = 100;
/** Maximum length of the address or the name of a root, in characters. Roots beyond it are rejected. */
const MAX_ROOT_LENGTH = 4_096;

/** Creates the actions for connections. The connect actions return at once, and the state reports the progress. */
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
        throw new McpError("invalid_params", "a recorded session has no server", {
          fix: "Replay it against a connection.",
        });
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
  if (list.length > MAX_ROOTS) {
    throw new McpError("invalid_params", `there are more than ${MAX_ROOTS} roots`, { fix: "Use fewer." });
  }
  return list.map((item) => {
    const root = isRecord(item) ? item : {};
    const uri = textOf(root, "uri");
    const name = optionalTextOf(root, "name");
    if (
      uri.length > MAX_ROOT_LENGTH ||
      (name ?? "").length > MAX_ROOT_LENGTH ||
      !/^file:\/\//i.test(uri) ||
      !URL.canParse(uri)
    ) {
      throw new McpError("invalid_params", `${JSON.stringify(uri.slice(0, 200))} is not a valid root`, {
        fix: "Use the file:// address of a folder.",
      });
    }
    return { uri, ...(name === undefined || name === "" ? {} : { name }) };
  });
}

/** An address that the user entered in the page. */
interface TypedAddress {
  readonly url: string;
  /** Default: auto-detected. */
  readonly transport?: "http" | "sse" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Maximum length of an address, in characters. Longer addresses are rejected. */
const MAX_URL_LENGTH = 8_192;
const MAX_HEADERS = 64;
/** Maximum length of a header value, in characters. Longer values are rejected. */
const MAX_VALUE_LENGTH = 16_384;
/**
 * Minimum length of a header value, or of a word in it, that is redacted as a secret. Redacting shorter values would
 * remove ordinary words. The whole value of a header that is named like a secret is redacted whatever its length.
 */
const MIN_SECRET_LENGTH = 8;

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** The tab is the only control character that a header value may contain. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that the user must not set. Overriding them could smuggle a second request or reach another host. */
const TRANSPORT_HEADERS = new Set([
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

/**
 * Creates a target for an address. Throws `invalid_params` for an invalid address and for headers that must not be set.
 */
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
  const url = text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw invalidParams(
      `${JSON.stringify(text.slice(0, 200))} is not the address of a server`,
      "Use an http or https address.",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw invalidParams("the address has a user name or a password", "Send them in the `authorization` header.");
  }
  return url;
}

function checkedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()] as const);
  if (entries.length > MAX_HEADERS) throw invalidParams(`there are more than ${MAX_HEADERS} headers`, "Use fewer.");
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name))
      throw invalidParams(`${JSON.stringify(name.slice(0, 100))} is not a header name`, HEADER_RULES);
    if (TRANSPORT_HEADERS.has(name) || /^(?:mcp|proxy|sec)-/.test(name)) {
      throw invalidParams(`the header ${name} is set by the transport`, "Remove it.");
    }
    if (value.length > MAX_VALUE_LENGTH || !HEADER_VALUE.test(value)) {
      throw invalidParams(
        `the value of ${name} is too long, or has a line break or other characters that headers do not allow`,
        HEADER_RULES,
      );
    }
  }
  return Object.fromEntries(entries);
}

const HEADER_RULES = "Use letters, digits and hyphens in names, and one line of printable characters as the value.";

/** Returns the secrets in the query of an address, both as written and decoded. */
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

/** Returns the secrets in a header. Credentials are included with and without their scheme. */
function secretsOfHeader([name, value]: readonly [string, string]): string[] {
  if (!isSecretName(name) && value.length < MIN_SECRET_LENGTH) return [];
  const [, ...rest] = value.split(" ");
  return [value, ...rest].filter((part) => part.length >= MIN_SECRET_LENGTH || part === value);
}

function invalidParams(message: string, fix: string): McpError {
  return new McpError("invalid_params", message, { fix });
}
