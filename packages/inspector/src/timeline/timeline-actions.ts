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

/** Maximum length of a copied message, in characters. Longer messages are truncated. */
const MAX_COPIED_LENGTH = 16 * 1024 * 1024;
const FORMS = ["curl", "parley", "typescript", "json"] as const satisfies readonly CopyForm[];

/** Options of `timelineActions`. */
export interface TimelineActionsOptions {
  readonly timeline: Timeline;
  /** Throws `invalid_params` for an unknown connection. */
  readonly targetOf: (connection: string) => InspectorTarget;
  readonly changed: () => void;
}

/** Creates the actions for the timeline. */
export function timelineActions(options: TimelineActionsOptions): Pick<ActionHandlers, "entry" | "copy" | "clear"> {
  const { timeline, changed } = options;
  return {
    entry: (input) => timeline.detail(numberOf(input, "seq")),
    copy: (input) => ({ text: copied(options, numberOf(input, "seq"), choiceOf(input, "form", FORMS)) }),
    clear: () => {
      timeline.clear();
      changed();
      return {};
    },
  };
}

function copied(options: TimelineActionsOptions, seq: number, form: CopyForm): string {
  const entry = options.timeline.entry(seq);
  if (form === "json") {
    // Escapes characters that a terminal could interpret. The JSON value stays the same.
    if (entry.message !== undefined) return printable(boundedJson(entry.message, MAX_COPIED_LENGTH).text);
    throw notCopied("the entry is not a message, or it was too large to be stored");
  }
  const request = requestOf(options, entry);
  if (form === "curl") {
    const text = copyAsCurl(request);
    if (text !== undefined) return text;
    throw notCopied("only requests to a URL can be copied for curl", "Copy it as parley or as TypeScript.");
  }
  return form === "parley" ? copyAsCommand(request) : copyAsTypeScript(request);
}

/** Returns the request of an entry: the entry's own message, or the request that this message answers. */
function requestOf({ timeline, targetOf }: TimelineActionsOptions, entry: StoredEntry): CopiedRequest {
  const { summary } = entry;
  const {
    message,
    http,
    revision,
    summary: asked,
  } = summary.answers === undefined ? entry : timeline.entry(summary.answers);
  if (message === undefined || message["method"] === undefined) throw notCopied("the entry is not a request");
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

/**
 * True if the connection of an entry uses HTTP+SSE. With this transport, requests are posted to another address, and no
 * POST is answered with a message.
 */
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
