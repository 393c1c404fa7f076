import { resolveImport } from "./import-table.js";
import type { FoundImport, ScannedSource } from "./scan-source.js";
import { violation } from "./violation.js";

/** Files that import each other in a ring, by types too: none of them can be understood alone. One line per file. */
export function filesInCycles(files: readonly ScannedSource[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const edges = new Map(
    files.map((file) => {
      const found = file.imports.filter(({ dynamic }) => !dynamic);
      return [file.path, found.flatMap((one) => edgeTo(file, one, byPath))] as const;
    }),
  );
  return rings(edges).flatMap((ring) =>
    ring.flatMap((path) => {
      const file = byPath.get(path);
      const inside = [...new Set((edges.get(path) ?? []).filter((to) => ring.includes(to)))];
      return file ? [violation(file, 1, `cycle of ${ring.length} files`, `imports ${inside.join(", ")}`)] : [];
    }),
  );
}

function edgeTo(file: ScannedSource, found: FoundImport, byPath: ReadonlyMap<string, ScannedSource>): string[] {
  const target = resolveImport(file.path, found.text);
  return target !== undefined && byPath.has(target) ? [target] : [];
}

/** Strongly connected parts with more than one member, by Tarjan's algorithm; largest first. */
export function rings(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const go = (from: string): number => {
    const index = order.size;
    order.set(from, index);
    stack.push(from);
    let lowest = index;
    for (const to of edges.get(from) ?? []) {
      if (!order.has(to)) lowest = Math.min(lowest, go(to));
      else if (stack.includes(to)) lowest = Math.min(lowest, low.get(to) ?? order.get(to) ?? lowest);
    }
    low.set(from, lowest);
    if (lowest === index) {
      const ring = stack.splice(stack.indexOf(from));
      if (ring.length > 1) found.push(ring.toSorted());
    }
    return lowest;
  };
  for (const path of edges.keys()) if (!order.has(path)) go(path);
  return found.toSorted((a, b) => b.length - a.length);
}
