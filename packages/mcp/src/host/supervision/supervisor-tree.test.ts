import { expect, it } from "vitest";
import { printTree } from "./supervisor-tree.js";

it("prints a tree with states, restarts, uptimes and reasons, and nothing that moves a cursor", () => {
  const child = { restart: "permanent", restarts: 0, state: "running" } as const;
  const text = printTree({
    name: "app",
    state: "running",
    strategy: "rest_for_one",
    children: [
      { ...child, id: "registry", uptimeMs: 59_999 },
      {
        ...child,
        id: "servers",
        uptimeMs: 61_000,
        supervisor: {
          name: "servers",
          state: "running",
          strategy: "one_for_one",
          children: [
            { ...child, id: "files", restarts: 1, uptimeMs: 7_260_000, reason: "exited\nwith code 1\u001b[2J" },
            { ...child, id: "mail", restarts: 3, state: "waiting" },
          ],
        },
      },
      { ...child, id: "observability", state: "failed", restarts: 6, reason: "no route" },
    ],
  });
  expect(text.split("\n")).toEqual([
    "app (rest_for_one) running",
    "├─ registry running, up 59 s",
    "├─ servers (one_for_one) running, up 1 min 1 s",
    "│  ├─ files running, up 2 h 1 min, 1 restart, last end: exited\\nwith code 1\\u001b[2J",
    "│  └─ mail waiting, 3 restarts",
    "└─ observability failed, 6 restarts, last end: no route",
  ]);
});
