import { here, type Measure, one, type Suite } from "../contender.js";
import { httpLatency, httpLoad } from "../measure/http-load.js";

const gateway = (id: string, kind: "stdio" | "http", measure: Measure): Suite => ({
  id: `${id}-${kind}`,
  measure,
  warmUp: true,
  contenders: [
    one("direct", "Parley without a gateway", here("parley-http.ts"), "2026"),
    one("parley", "Parley through a gateway", here("parley-gateway.ts", kind), "2026"),
  ],
});

/** A server behind a gateway beside the same server without one. */
export const GATEWAY_SUITES: readonly Suite[] = [
  gateway("gateway", "stdio", httpLoad),
  gateway("gateway", "http", httpLoad),
  gateway("gateway-hop", "stdio", httpLatency),
  gateway("gateway-hop", "http", httpLatency),
];
