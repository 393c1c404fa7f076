/** For each folder, the folders that it imports. */
type Imports = ReadonlyMap<string, readonly string[]>;

/** The folders of `src/` with those that they import, taken together from the table of their rooms. */
export function foldersOf(table: Imports): Imports {
  const folders = new Map<string, Set<string>>();
  const top = (room: string) => room.split("/")[0] ?? room;
  for (const [room, imports] of table) {
    const known = folders.get(top(room)) ?? new Set<string>();
    for (const other of imports) if (top(other) !== top(room)) known.add(top(other));
    folders.set(top(room), known);
  }
  return new Map([...folders].map(([folder, imports]) => [folder, [...imports]]));
}

/** A folder and the rooms in it, with the imports among them. */
export function roomsIn(table: Imports, folder: string): Imports {
  const isInside = (room: string) => room === folder || room.startsWith(`${folder}/`);
  const inside = [...table].filter(([room]) => isInside(room));
  return new Map(inside.map(([room, imports]) => [room, imports.filter(isInside)]));
}

/** One line per layer, highest first: nothing in a line imports what is in the same line or above. */
export function drawLayers(imports: Imports): string {
  const heights = new Map<string, number>();
  const heightOf = (name: string, above: readonly string[]): number => {
    if (above.includes(name)) throw new Error(`circle: ${[...above, name].join(" → ")}`);
    const known = heights.get(name);
    if (known !== undefined) return known;
    const below = (imports.get(name) ?? []).map((other) => heightOf(other, [...above, name]));
    const height = Math.max(-1, ...below) + 1;
    heights.set(name, height);
    return height;
  };
  for (const name of imports.keys()) heightOf(name, []);
  const layers: string[][] = [];
  for (const [name, height] of heights) layers[height] = [...(layers[height] ?? []), name];
  const lines = layers.toReversed().map((names) => names.toSorted().join("   "));
  return `\`\`\`text\n${lines.join("\n")}\n\`\`\`\n`;
}

/** Boxes with arrows to what they import. An import that follows from other arrows has none of its own. */
export function drawArrows(imports: Imports): string {
  const reaches = (from: string, to: string): boolean =>
    (imports.get(from) ?? []).some((next) => next === to || reaches(next, to));
  const id = (name: string) => name.replaceAll(/\W/g, "_");
  const arrows = [...imports].flatMap(([from, all]) =>
    all
      .filter((to) => !all.some((other) => other !== to && reaches(other, to)))
      .map((to) => `  ${id(from)}["${from}/"] --> ${id(to)}["${to}/"]\n`),
  );
  return `\`\`\`mermaid\nflowchart TD\n${arrows.join("")}\`\`\`\n`;
}
