import { Shown } from "./shown.js";

/** The lines of a table: columns as wide as their widest cell, two spaces between them, nothing beyond `edge`. */
export function tableLines(rows: readonly (readonly Shown[])[], edge: number): Shown[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(0, ...rows.map((row) => columnsOf(row[at]?.plain ?? ""))),
  );
  return rows.map((row) => {
    let text = "";
    let plain = "";
    row.forEach((cell, at) => {
      const room = edge - columnsOf(plain);
      const shown = cutShown(cell, room);
      const gap = at === row.length - 1 ? "" : " ".repeat((widths[at] ?? 0) - columnsOf(cell.plain) + 2);
      text += shown.text + gap;
      plain += shown.plain + gap;
    });
    return new Shown(text.trimEnd(), plain.trimEnd());
  });
}

/** The text as far as it fits into so many columns. One that does not fit loses its colours with its end. */
export function cutShown(cell: Shown, room: number): Shown {
  if (columnsOf(cell.plain) <= room) return cell;
  if (room < 1) return new Shown("");
  let kept = "";
  let used = 0;
  for (const char of cell.plain) {
    used += columnsOf(char);
    if (used > room - 1) break;
    kept += char;
  }
  return new Shown(`${kept}…`);
}

/** Characters that take two columns: scripts of East Asia and most emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const MARK = /\p{Mn}|\p{Me}|\u200d|\ufe0f/u;

function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += MARK.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return columns;
}
