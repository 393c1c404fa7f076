import type { EraLine } from "./era-lines.js";
import type { Exception } from "./house-rules.js";

/** The lines outside `era/` and `protocol/` that know of eras; at most ten. */
export const ERA_LINES: readonly EraLine[] = [
  line("client/connection/current-connection.ts", "serverAsks", "notes it once for each handshake"),
  line("client/connection/current-connection.ts", "mirrorsParams", "notes it once for each handshake"),
  line("server/questions/replay-layer.ts", "replays", "answers of earlier rounds are read before the handler runs"),
  line("server/call/server-call.ts", "replays", "declares the member that the others read"),
  line("server/call/server-call.ts", "replays", "copies it once for each call"),
  line("server/questions/asking.ts", "replays", "chooses between the two ways to ask"),
  line("server/call/url-required.ts", "replays", "an error names pages where an interim result cannot"),
  line("server/tools/call.ts", "replays", "an interim result asks for pages that a handler's error names"),
  line("server/tools/result.ts", "replays", "pages that no error can name are told to the model"),
  line("server/tools/result.ts", "replays", "a missing capability has an error code of its own"),
];

function line(file: string, word: string, reason: string): EraLine {
  return { file, word, reason };
}

/** Small files with one importer that stay alone. */
export const SMALL_FILES: readonly Exception[] = [];

/** Files whose name is not the name of an export. */
export const FILE_NAMES: readonly Exception[] = [
  { file: "node/entry/on-demand.ts", reason: "loads what it names when that is first called" },
  { file: "platform/default.ts", reason: "what a build without a platform of its own takes" },
  { file: "protocol/lifecycle.ts", reason: "the specification's chapter, one type per message" },
  { file: "protocol/message.ts", reason: "the parts that all messages of the specification share" },
  { file: "server/questions/asking.ts", reason: "all that asks a client, loaded with the first question" },
  { file: "server/prompts/message.ts", reason: "the namespace `message`, one builder per name" },
  { file: "server/tools/content.ts", reason: "the namespace `content`, one builder per name" },
  { file: "transport/channel/client.ts", reason: "the client's side of a channel, beside the server's" },
];

/** Names that two files export on purpose. */
export const TWO_MEANINGS: readonly string[] = [
  // One meaning, two makers: a build takes the one of its runtime.
  "platform",
  "transports",
  // `resource` defines one, `content.resource` puts one into a result; the namespace tells them apart.
  "resource",
  // One meaning: `node/entry/on-demand.ts` loads the other when it is called.
  "nodeHandler",
  "serveHttp",
  "serveSocket",
  "serveWebSocket",
];

/** What the rules leave alone in the other packages; paths are relative to their sources. */
export const OTHER_PACKAGES = {
  smallFiles: [{ file: "sessions/session-view.ts", reason: "the door of its room, as every view of the page has one" }],
  fileNames: [
    { file: "contract/sessions.ts", reason: "what the page and its server say to each other, a file for each room" },
    { file: "contract/timeline.ts", reason: "what the page and its server say to each other, a file for each room" },
  ],
  revisions: [
    { file: "project/project-files.ts", reason: "the project of `parley init` tests both eras" },
    { file: "copy/copy-as-curl.ts", reason: "curl knows no revision, so that the line must say its headers" },
    { file: "validation/schema-definitions.ts", reason: "the table of the published schemas" },
  ],
} as const satisfies Record<string, readonly Exception[]>;
