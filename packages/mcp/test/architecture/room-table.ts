import { rings } from "./import-rings.js";
import { resolveImport } from "./import-table.js";
import type { ScannedSource } from "./scan-source.js";
import { violation } from "./violation.js";

/** For each room, a folder of `src/`, the rooms that it may import. */
export type RoomTable = ReadonlyMap<string, readonly string[]>;

interface Edge {
  readonly file: ScannedSource;
  readonly line: number;
  readonly from: string;
  readonly to: string;
}

/** The rooms that are imported, of types too. Entry files stand outside. */
function edgesOf(files: readonly ScannedSource[]): Edge[] {
  return files.flatMap((file) => {
    const from = roomOf(file.path);
    return file.imports.flatMap(({ text, line }) => {
      const target = resolveImport(file.path, text);
      const to = target === undefined ? undefined : roomOf(target);
      return from === undefined || to === undefined || from === to ? [] : [{ file, line, from, to }];
    });
  });
}

function roomOf(path: string): string | undefined {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : undefined;
}

/** Reads lines such as `era/stateful: encoding protocol`. */
export function readRoomTable(text: string): RoomTable {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => {
      const [room = "", imports = ""] = line.split(":");
      return [room, imports.split(" ").filter((word) => word !== "")] as const;
    }),
  );
}

/** The table that the sources need, as text. */
export function writeRoomTable(files: readonly ScannedSource[], allowed?: RoomTable): string {
  const needed = new Map<string, Set<string>>();
  for (const { path } of files) {
    const room = roomOf(path);
    if (room !== undefined) needed.set(room, needed.get(room) ?? new Set());
  }
  for (const { from, to } of edgesOf(files)) {
    if (allowed === undefined || allowed.get(from)?.includes(to) === true) needed.get(from)?.add(to);
  }
  const rows = [...needed].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return rows.map(([room, imports]) => `${[`${room}:`, ...[...imports].toSorted()].join(" ")}\n`).join("");
}

export function importsOutsideTheRoomTable(files: readonly ScannedSource[], table: RoomTable): string[] {
  return edgesOf(files)
    .filter(({ from, to }) => table.get(from)?.includes(to) !== true)
    .map(({ file, line, from, to }) => violation(file, line, "room table", `${from}/ may not import ${to}/`));
}

/** Rooms that import each other in a circle. A folder and a room in it that import each other are one, too. */
export function roomCircles(table: RoomTable): string[] {
  return rings(table).map((ring) => `circle of ${ring.length} rooms: ${ring.join(", ")}`);
}
