import { here, one, onRuntime, type Suite } from "../contender.js";
import { httpLoad } from "../measure/http-load.js";
import { probe } from "../measure/probe.js";

/** A server whose calls are observed, beside one that is not; `off` has the entry loaded and no observer. */
const telemetry = (transport: "http" | "memory"): Suite => ({
  id: `telemetry-${transport}`,
  measure: transport === "http" ? httpLoad : probe,
  warmUp: true,
  contenders: [
    transport === "http"
      ? one("without", "Parley without the entry", here("parley-http.ts"), "2026")
      : one("without", "Parley without the entry", here("parley-memory.ts")),
    one("off", "Parley with the entry, off", here("parley-telemetry.ts", "off", transport), "2026"),
    one("parley", "Parley with OpenTelemetry", here("parley-telemetry.ts", "on", transport), "2026"),
    one("prometheus", "Parley with Prometheus", here("parley-telemetry.ts", "prometheus", transport), "2026"),
  ],
});

/** What observing calls costs. */
export const TELEMETRY_SUITES: readonly Suite[] = [
  telemetry("http"),
  // From Node 24 on, following calls over promises needs no hook on every one of them.
  onRuntime("node24", "telemetry-http-node24", telemetry("http")),
  telemetry("memory"),
];
