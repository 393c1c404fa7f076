import { McpError } from "@parley/mcp/protocol";
import type { ProblemInfo } from "../contract/connections.js";

/** Maximum length of an error message that the page receives, in characters. Longer messages are truncated. */
const MAX_MESSAGE_LENGTH = 20_000;
/** Maximum length of an error's data as JSON, in characters. Longer data becomes the beginning of its JSON text. */
const MAX_DATA_LENGTH = 200_000;

/**
 * Replacements that turn advice for programs into advice for the user of the page. Only the first match of each pattern
 * is replaced.
 */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/`timeouts\.connectMs`/, "--timeout of `parley inspect`"],
  [/; `data\.stderr` has its last lines\.$/, "; the details have its last lines."],
  [
    /pass its full path as `command`, or set `PATH` in `env`/,
    "start the inspector with its full path, or set PATH with --env",
  ],
  [/^(Pass \S+) in `env`;/, "$1 with --env of `parley inspect`, or in `env` of its configuration;"],
  [/^Add [^.]*`revisions` option[^.]*\./, "Choose another revision, or let it be negotiated."],
  [/, or use an older revision with `revisions`/, ", or choose an older revision"],
  [/^Pass credentials to `connect` in `headers`/, "Connect again, with credentials as a header"],
  [/pass it as `client`/, "log in with `parley login --client-id`, whose tokens `parley inspect` uses"],
  [/, or publish a client metadata document and pass its address as `clientMetadataUrl`/, ""],
  [/^Look at `cause` and at the server's log/, "Look at the server's log"],
  [/, or set `allowCrossOriginRedirects`/, ""],
  [/, or pass `checkOutput: false` to take results unchecked/, ""],
  [/; see `client\.serverCapabilities`\.$/, "; the view Server shows them."],
  [/^Look at `client\.serverCapabilities` before/, "Look at the capabilities in the view Server before"],
  [/, or raise `\w+`(?: of `connect`| on the reading side)(?: or of the transport)?/, ""],
];

/** Converts any error for the page. Long texts and data are truncated. */
export function toProblemInfo(error: unknown): ProblemInfo {
  const { message, fix, kind, data, code, remote } = McpError.from(error);
  return {
    message: cut(message),
    fix: cut(adviceForPage(fix)),
    kind,
    ...(remote ? { code } : {}),
    ...(data === undefined ? {} : { data: boundedData(data) }),
  };
}

function cut(text: string): string {
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;
}

function boundedData(data: unknown): unknown {
  try {
    const text = JSON.stringify(data) ?? "null";
    // Copies the data, because the error of a program may refer to objects that change later.
    return text.length > MAX_DATA_LENGTH ? `${text.slice(0, MAX_DATA_LENGTH)}…` : JSON.parse(text);
  } catch {
    return String(data);
  }
}

/** Replaces the names of library options with the names that the page or `parley inspect` uses. */
function adviceForPage(fix: string): string {
  return REPLACEMENTS.reduce((text, [api, words]) => text.replace(api, words), fix);
}
