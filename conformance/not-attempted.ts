/** Scenarios that wait for later work, by the beginning of their names; the run lists them, and work removes lines. */
export const NOT_ATTEMPTED: Record<"server" | "client", { prefix: string; reason: string }[]> = {
  server: [{ prefix: "tasks-", reason: "the tasks extension is not built yet" }],
  client: [],
};

/** Why a scenario is not attempted, or undefined when it is. */
export function waitingFor(role: "server" | "client", scenario: string): string | undefined {
  return NOT_ATTEMPTED[role].find(({ prefix }) => scenario.startsWith(prefix))?.reason;
}
