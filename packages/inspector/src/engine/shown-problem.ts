import { McpError } from "@parley/mcp/protocol";
import type { ShownProblem } from "../contract/connections.js";
import { pageAdvice } from "./page-advice.js";

/** Characters of an error's message that the page gets. */
const MOST_MESSAGE = 20_000;
/** Characters of an error's data, as JSON, that the page gets. */
const MOST_DATA = 200_000;

/** What the page shows of an error of any kind; texts and data are bounded. */
export function shownProblem(error: unknown): ShownProblem {
  const { message, fix, kind, data } = McpError.from(error);
  return {
    message: cut(message),
    fix: cut(pageAdvice(fix)),
    kind,
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
