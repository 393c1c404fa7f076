import type { Results } from "../results.js";
import { figureText } from "../rows/row-text.js";

const BEGIN = "<!-- measured -->";
const END = "<!-- /measured -->";

/** The README with its figures renewed; unchanged where it has no place for them. */
export function withMeasuredFigures(readme: string, { rows }: Results): string {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  const row = rows.find(({ id }) => id === "http-stateless");
  const [ours, official] = ["parley", "official-v2"].map((id) => row?.contenders.find((one) => one.id === id));
  if (from < 0 || to < from || ours?.median === undefined || official?.median === undefined) return readme;
  // The ratio of the rounds' own ratios to the bare program, as on the performance page.
  const times = Math.floor((ours.ratio ?? Number.NaN) / (official.ratio ?? Number.NaN));
  const text = `${figureText(ours.median)} tool calls per second over HTTP in one process, ${times} times as many as the official SDK (${figureText(official.median)})`;
  return `${readme.slice(0, from)}${BEGIN}${text}${readme.slice(to)}`;
}
