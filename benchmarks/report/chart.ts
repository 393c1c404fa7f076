import type { Measured, RowResult } from "../results.js";

const ROWS = ["http-stateless", "http-session", "stdio-2025", "stdio-2026", "http-client"];
const WIDTH = 760;
const LEFT = 220;
const RIGHT = 70;
const BAR = 18;
const GAP = 6;
const HEAD = 34;

/** A chart of throughput: one bar per contender, as long as its ratio to the plain bare program. */
export function chart(rows: readonly RowResult[]): string {
  const shown = rows.filter(({ id }) => ROWS.includes(id));
  let top = 10;
  const groups = shown.map((row) => {
    const bars = row.contenders.filter(({ ratio }) => ratio !== undefined);
    const most = Math.max(1, ...bars.map(({ ratio = 0 }) => ratio));
    const drawn = group(row, bars, top, (WIDTH - LEFT - RIGHT) / most);
    top += HEAD + bars.length * (BAR + GAP) + 12;
    return drawn;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" role="img">
<title>Throughput beside a plain bare program</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.head { font-weight: 600; }
.ours { fill: #1a7f64; }
.bare { fill: #8c959f; }
.peer { fill: #c4a35a; }
.one { stroke: #8c959f; stroke-dasharray: 3 3; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } }
</style>
${groups.join("\n")}
</svg>
`;
}

function group(row: RowResult, bars: readonly Measured[], top: number, scale: number): string {
  const one = LEFT + scale;
  const bottom = top + HEAD + bars.length * (BAR + GAP);
  return [
    `<text class="head" x="10" y="${top + 20}">${escaped(plain(row.title))}</text>`,
    `<line class="one" x1="${round(one)}" y1="${top + HEAD - 4}" x2="${round(one)}" y2="${bottom}"/>`,
    ...bars.map((bar, at) => drawBar(bar, top + HEAD + at * (BAR + GAP), scale)),
  ].join("\n");
}

function drawBar({ id, title, ratio = 0 }: Measured, y: number, scale: number): string {
  const kind = id.startsWith("parley") ? "ours" : id === "plain" || id === "tuned" ? "bare" : "peer";
  const width = Math.max(1, ratio * scale);
  const text = y + BAR - 5;
  return [
    `<text x="${LEFT - 8}" y="${text}" text-anchor="end">${escaped(plain(title))}</text>`,
    `<rect class="${kind}" x="${LEFT}" y="${y}" width="${round(width)}" height="${BAR}" rx="2"/>`,
    `<text x="${round(LEFT + width + 6)}" y="${text}">${ratio < 0.1 ? ratio.toFixed(3) : ratio.toFixed(2)}</text>`,
  ].join("\n");
}

function plain(text: string): string {
  return text.replaceAll("`", "");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
