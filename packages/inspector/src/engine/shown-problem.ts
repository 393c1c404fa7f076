import { McpError } from "@parley/mcp/protocol";
import type { ShownProblem } from "../contract/connections.js";

/** Characters of an error's message that the page gets. */
const MOST_MESSAGE = 20_000;
/** Characters of an error's data, as JSON, that the page gets. */
const MOST_DATA = 200_000;

/** What the library tells programs to change, and the same for a person before the page. The first that is found is replaced. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/`timeouts\.connectMs`/, "--timeout of `parley inspect`"],
  [/; `data\.stderr` has its last lines\.$/, "; the details have its last lines."],
  [
    /pass its full path as `command`, or set `PATH` in `env`/,
    "start the inspector with its full path, or set PATH by --env",
  ],
  [/^(Pass \S+) in `env`;/, "$1 by --env of `parley inspect`, or in `env` of its configuration;"],
  [/^Add [^.]*`revisions` option[^.]*\./, "Choose another revision, or let it be negotiated."],
  [/, or use an older revision with `revisions`/, ", or choose an older revision"],
  [/^Pass credentials to `connect` in `headers`/, "Connect again, with credentials as a header"],
  [/pass it as `client`/, "log in with it by `parley login --client-id`, whose tokens `parley inspect` uses"],
  [/, or publish a client metadata document and pass its address as `clientMetadataUrl`/, ""],
  [/^Look at `cause` and at the server's log/, "Look at the server's log"],
  [/, or set `allowCrossOriginRedirects`/, ""],
  [/, or pass `checkOutput: false` to take results unchecked/, ""],
  [/; see `client\.serverCapabilities`\.$/, "; the view Server shows them."],
  [/^Look at `client\.serverCapabilities` before/, "Look at the capabilities in the view Server before"],
  [/, or raise `\w+`(?: of `connect`| on the reading side)(?: or of the transport)?/, ""],
];

/** What the page shows of an error of any kind; texts and data are bounded. */
export function shownProblem(error: unknown): ShownProblem {
  const { message, fix, kind, data, code, remote } = McpError.from(error);
  return {
    message: cut(message),
    fix: cut(pageAdvice(fix)),
    kind,
    ...(remote ? { code } : {}),
    ...(data === undefined ? {} : { data: shownData(data) }),
  };
}

function cut(text: string): string {
  return text.length > MOST_MESSAGE ? `${text.slice(0, MOST_MESSAGE)}…` : text;
}

function shownData(data: unknown): unknown {
  try {
    const text = JSON.stringify(data) ?? "null";
    // A copy, because errors of a program may hold anything, and what the page gets must stay as it was.
    return text.length > MOST_DATA ? `${text.slice(0, MOST_DATA)}…` : JSON.parse(text);
  } catch {
    return String(data);
  }
}

/** Advice of the library in words of the page and of the terminal that started it. */
function pageAdvice(fix: string): string {
  return WORDS.reduce((text, [api, words]) => text.replace(api, words), fix);
}
