import type { EntrySummary } from "../../src/contract/timeline.js";

/**
 * One row of a waterfall. A row shows a request until its response, or the questions between two rounds, or points in
 * time: all other entries that have the same direction, kind and label.
 */
export interface WaterfallRow {
  readonly seq: number;
  /** `question`: a request from the server, or the questions between two rounds. */
  readonly kind: "request" | "question" | "points";
  readonly label: string;
  readonly startMs: number;
  /** Absent while the request is unanswered. */
  readonly endMs?: number | undefined;
  readonly failed: boolean;
  /** The times of the entries, in order. Entries beyond `MAX_POINTS` are only counted. */
  readonly points: readonly number[];
  readonly count: number;
}

/** Maximum number of rows of one waterfall. Later rows are dropped. */
export const MAX_WATERFALL_ROWS = 200;
const MAX_POINTS = 500;

/** Groups related entries into rows, ordered by start. Drops rows beyond `MAX_WATERFALL_ROWS`. */
export function waterfallOf(entries: readonly EntrySummary[]): readonly WaterfallRow[] {
  const answers = new Map<number, EntrySummary>();
  for (const entry of entries) if (entry.answers !== undefined) answers.set(entry.answers, entry);
  const rows = new Map<string, WaterfallRow>();
  for (const entry of entries) {
    if (entry.answers !== undefined) continue;
    const key = entry.kind === "request" ? `${entry.seq}` : `${entry.direction} ${entry.kind} ${entry.label}`;
    const known = rows.get(key);
    if (known !== undefined) rows.set(key, withPoint(known, entry));
    else if (rows.size < MAX_WATERFALL_ROWS) rows.set(key, rowOf(entry, answers.get(entry.seq)));
  }
  const all = [...rows.values(), ...questionRows(entries, answers)];
  return all.sort((left, right) => left.seq - right.seq).slice(0, MAX_WATERFALL_ROWS);
}

/**
 * The rows for the time between the rounds of a call. In stateless revisions a server asks questions in its result, and
 * the client repeats the request with the answers.
 */
function questionRows(entries: readonly EntrySummary[], answers: ReadonlyMap<number, EntrySummary>): WaterfallRow[] {
  const sent = entries.filter(
    ({ kind, direction, call }) => kind === "request" && direction === "sent" && call !== undefined,
  );
  const rounds = sent.filter(({ label, about }) => label === sent[0]?.label && about === sent[0]?.about);
  return rounds.slice(0, MAX_WATERFALL_ROWS).flatMap((request, index) => {
    const asked = answers.get(request.seq);
    const sentAgain = rounds[index + 1];
    // A repetition after a failure is a retry, not a round.
    if (asked === undefined || asked.failed || sentAgain === undefined) return [];
    return [questionsBetween(asked, sentAgain, index + 1)];
  });
}

function questionsBetween(asked: EntrySummary, sentAgain: EntrySummary, round: number): WaterfallRow {
  return {
    seq: asked.seq,
    kind: "question",
    label: `questions, round ${round}`,
    startMs: asked.ms,
    endMs: sentAgain.ms,
    failed: false,
    points: [],
    count: 1,
  };
}

function rowOf(entry: EntrySummary, answer: EntrySummary | undefined): WaterfallRow {
  const about = entry.about === undefined ? "" : ` ${entry.about}`;
  const isRequest = entry.kind === "request";
  return {
    seq: entry.seq,
    kind: isRequest ? (entry.direction === "received" ? "question" : "request") : "points",
    label: entry.label + about,
    startMs: entry.ms,
    endMs: isRequest ? answer?.ms : entry.ms,
    failed: entry.failed || (answer?.failed ?? false),
    points: isRequest ? [] : [entry.ms],
    count: 1,
  };
}

function withPoint(row: WaterfallRow, entry: EntrySummary): WaterfallRow {
  const points = row.points.length < MAX_POINTS ? [...row.points, entry.ms] : row.points;
  return { ...row, points, endMs: entry.ms, count: row.count + 1, failed: row.failed || entry.failed };
}
