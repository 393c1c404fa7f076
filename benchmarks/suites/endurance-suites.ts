import { type Effort, here, one, PLAIN, peer, type Suite, V1, V2 } from "../contender.js";
import { httpEventLoad } from "../measure/http-load.js";
import { idleMemory } from "../measure/idle-memory.js";
import { notifyRate } from "../measure/notify-rate.js";
import { overloadMemory } from "../measure/overload.js";
import { pingWhileBusy } from "../measure/ping-while-busy.js";
import { pipeLatency } from "../measure/pipe-latency.js";
import { probe } from "../measure/probe.js";
import { sustainedLoad } from "../measure/sustained.js";

const few = (effort: Effort) => (effort.quick ? 1 : 3);

const servers = [
  one("plain", PLAIN, here("bare-http.ts"), "2026"),
  one("parley", "Parley", here("parley-http.ts"), "2026"),
  one("official-v2", V2, peer("official-v2.mjs", "http"), "2026"),
];

/** What takes longer than a moment, or more than one server can serve. */
export const ENDURANCE_SUITES: readonly Suite[] = [
  {
    id: "http-events",
    measure: httpEventLoad,
    warmUp: true,
    contenders: [
      one("plain", PLAIN, here("bare-http.ts", "events"), "2026"),
      one("parley", "Parley", here("parley-http.ts", "steps"), "2026"),
      one("official-v2", V2, peer("official-v2.mjs", "http", "steps"), "2026"),
    ],
  },
  {
    id: "stdio-sequential",
    measure: pipeLatency,
    warmUp: true,
    contenders: [
      one("plain", PLAIN, here("bare-pipe.ts"), "2025"),
      one("parley", "Parley", here("parley-stdio.ts"), "2025"),
      one("official-v2", V2, peer("official-v2.mjs", "stdio"), "2025"),
      one("official-v1", V1, peer("official-v1.mjs", "stdio"), "2025"),
      one("tmcp", "tmcp", peer("tmcp.mjs", "stdio"), "2025"),
    ],
  },
  {
    id: "ping-busy",
    measure: pingWhileBusy,
    warmUp: true,
    rounds: few,
    contenders: [
      one("plain", "Parley, the tool in the serving thread", here("parley-busy.ts", "plain")),
      one("parley", "Parley, the tool isolated", here("parley-busy.ts", "isolated")),
    ],
  },
  {
    id: "notify-sockets",
    measure: notifyRate,
    warmUp: true,
    contenders: [
      { ...one("parley-1", "Parley, 1 subscriber", here("parley-notify.ts")), setting: 1 },
      { ...one("parley-100", "Parley, 100 subscribers", here("parley-notify.ts")), setting: 100 },
      { ...one("parley", "Parley, 1,000 subscribers", here("parley-notify.ts")), setting: 1000 },
    ],
  },
  { id: "sustained", measure: sustainedLoad, warmUp: true, rounds: few, contenders: servers },
  { id: "overload", measure: overloadMemory, warmUp: false, rounds: few, contenders: servers },
  {
    id: "host-memory",
    measure: idleMemory,
    warmUp: false,
    rounds: few,
    contenders: [
      one("plain", "a program that does nothing", here("bare-idle.ts")),
      one("parley", "Parley, 20 servers on pipes, connected and listed", here("parley-host.ts")),
    ],
  },
  {
    id: "host-start",
    measure: probe,
    warmUp: true,
    contenders: [one("parley", "Parley, 20 servers on pipes, one of which hangs", here("parley-warm-host.ts"))],
  },
];
