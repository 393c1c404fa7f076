import { McpError, printable } from "@parley/mcp/protocol";
import type { InspectorTarget } from "../connections/inspector-target.js";
import type { ActionHandlers } from "../contract/actions.js";
import type { CopyForm, HttpExchange } from "../contract/timeline.js";
import type { CopiedRequest } from "../copy/copied-request.js";
import { copyAsCommand } from "../copy/copy-as-command.js";
import { copyAsCurl } from "../copy/copy-as-curl.js";
import { copyAsTypeScript } from "../copy/copy-as-typescript.js";
import { choiceOf, numberOf } from "../engine/read-input.js";
import { boundedJson } from "./bounded-json.js";
import type { StoredEntry } from "./entry-ring.js";
import type { Timeline } from "./timeline.js";

/** Characters of a message that are copied. */
const MOST_COPIED = 16 * 1024 * 1024;
const FORMS = ["curl", "parley", "typescript", "json"] as const satisfies readonly CopyForm[];

/** What the actions of the timeline need. */
export interface TimelineActionParts {
  readonly timeline: Timeline;
  /** Throws `invalid_params` where there is no such connection. */
  readonly targetOf: (connection: string) => InspectorTarget;
  readonly changed: () => void;
}

/** What the page can do about the timeline. */
export function timelineActions(parts: TimelineActionParts): Pick<ActionHandlers, "entry" | "copy" | "clear"> {
  const { timeline, changed } = parts;
  return {
    entry: (input) => timeline.detail(numberOf(input, "seq")),
    copy: (input) => ({ text: copied(parts, numberOf(input, "seq"), choiceOf(input, "form", FORMS)) }),
    clear: () => {
      timeline.clear();
      changed();
      return {};
    },
  };
}

function copied(parts: TimelineActionParts, seq: number, form: CopyForm): string {
  const entry = parts.timeline.entry(seq);
  if (form === "json") {
    // The same JSON, in a spelling that no terminal reacts to.
    if (entry.message !== undefined) return printable(boundedJson(entry.message, MOST_COPIED).text);
    throw notCopied("the entry is no message, or one that was too large to be kept");
  }
  const request = requestOf(parts, entry);
  if (form === "curl") {
    const text = copyAsCurl(request);
    if (text !== undefined) return text;
    throw notCopied("only requests to a URL can be copied for curl", "Copy it as parley or as TypeScript.");
  }
  return form === "parley" ? copyAsCommand(request) : copyAsTypeScript(request);
}

/** The request of an entry: itself, or what it answers. */
function requestOf({ timeline, targetOf }: TimelineActionParts, entry: StoredEntry): CopiedRequest {
  const { summary } = entry;
  const {
    message,
    http,
    revision,
    summary: asked,
  } = summary.answers === undefined ? entry : timeline.entry(summary.answers);
  if (message === undefined || message["method"] === undefined) throw notCopied("the entry is no request");
  if (asked.direction !== "sent") throw notCopied("the server sent the request");
  const { kind, shown, url, command } = targetOf(summary.connection);
  return {
    message,
    target: { kind, shown, url, command },
    revision,
    transport: isOverSse(timeline, entry, url) ? "sse" : "http",
    ...(http === undefined ? {} : { headers: http.requestHeaders }),
  };
}

/** Whether the connection of an entry is one over HTTP+SSE: requests are posted elsewhere, and no POST is answered by a message. */
function isOverSse(timeline: Timeline, { summary, connectionNumber }: StoredEntry, url: string | undefined): boolean {
  const posts = timeline.stored(summary.connection).flatMap((entry) => {
    const { kind, direction } = entry.summary;
    const isPosted = entry.connectionNumber === connectionNumber && kind === "request" && direction === "sent";
    return isPosted && entry.http?.status !== undefined && entry.http.status < 300 ? [entry.http] : [];
  });
  const isMessage = (type = "") => /^(?:application\/json|text\/event-stream)\b/i.test(type);
  const isElsewhere = (post: HttpExchange) => post.url !== url && !isMessage(post.responseHeaders?.["content-type"]);
  return posts.length > 0 && posts.every(isElsewhere);
}

function notCopied(reason: string, fix = "Choose a request that the client sent, or its answer."): McpError {
  return new McpError("invalid_params", `this cannot be copied: ${reason}`, { fix });
}
