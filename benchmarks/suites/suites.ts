import {
  type Contender,
  type Effort,
  here,
  type MessageEra,
  one,
  onRuntime,
  PLAIN,
  peer,
  type Suite,
  TUNED,
  V1,
  V2,
} from "../contender.js";
import { bundleSize } from "../measure/bundle-size.js";
import { sessionHeap, streamHeap } from "../measure/heap.js";
import { httpLoad, httpProtectedLoad, httpSessionLoad } from "../measure/http-load.js";
import { firstAnswerTime, pipeLoad } from "../measure/pipe-load.js";
import { probe, probeClient } from "../measure/probe.js";
import { importTime } from "../measure/start-time.js";
import { CLI_SUITES } from "./cli-suites.js";
import { ENDURANCE_SUITES } from "./endurance-suites.js";
import { GATEWAY_SUITES } from "./gateway-suites.js";
import { STORAGE_SUITES } from "./storage-suites.js";
import { TELEMETRY_SUITES } from "./telemetry-suites.js";

const stdio = (era: MessageEra): Suite => ({
  id: `stdio-${era}`,
  measure: pipeLoad,
  warmUp: true,
  contenders: [
    one("plain", PLAIN, here("bare-pipe.ts"), era),
    one("tuned", TUNED, here("bare-pipe.ts", "tuned"), era),
    one("parley", "Parley", here("parley-stdio.ts"), era),
    one("official-v2", V2, peer("official-v2.mjs", "stdio"), era),
    ...(era === "2025" ? [one("official-v1", V1, peer("official-v1.mjs", "stdio"), era)] : []),
    one("tmcp", "tmcp", peer("tmcp.mjs", "stdio"), era),
  ],
});

const fresh = (effort: Effort) => (effort.quick ? 3 : Math.max(15, effort.rounds));
const few = (effort: Effort) => (effort.quick ? 1 : 3);

const load: Suite[] = [
  {
    id: "http-stateless",
    measure: httpLoad,
    warmUp: true,
    contenders: [
      one("plain", PLAIN, here("bare-http.ts"), "2026"),
      one("tuned", TUNED, here("bare-http.ts", "tuned"), "2026"),
      one("parley", "Parley", here("parley-http.ts"), "2026"),
      one("parley-zod", "Parley, schema by zod", here("parley-http.ts", "zod"), "2026"),
      one("official-v2", V2, peer("official-v2.mjs", "http"), "2026"),
      one("official-v1", `${V1}, 2025 messages`, peer("official-v1.mjs", "stateless"), "2025"),
      one("mcp-lite", "mcp-lite, 2025 messages", peer("mcp-lite.mjs"), "2025"),
      one("tmcp", "tmcp", peer("tmcp.mjs", "http"), "2026"),
    ],
  },
  {
    id: "http-session",
    measure: httpSessionLoad,
    warmUp: true,
    contenders: [
      one("plain", PLAIN, here("bare-http.ts"), "2025"),
      one("tuned", TUNED, here("bare-http.ts", "tuned"), "2025"),
      one("parley", "Parley", here("parley-http.ts"), "2025"),
      one("official-v1", V1, peer("official-v1.mjs", "sessions"), "2025"),
      one("mcp-lite", "mcp-lite", peer("mcp-lite.mjs", "sessions"), "2025"),
      one("tmcp", "tmcp", peer("tmcp.mjs", "http"), "2025"),
    ],
  },
  {
    id: "http-protected",
    measure: httpProtectedLoad,
    warmUp: true,
    contenders: [
      one("open", "Parley without `auth`", here("parley-http.ts"), "2026"),
      one("parley", "Parley with `auth`", here("parley-protected.ts"), "2026"),
    ],
  },
  ...GATEWAY_SUITES,
  stdio("2025"),
  stdio("2026"),
  {
    id: "http-client",
    measure: probeClient(),
    warmUp: true,
    contenders: [
      one("plain", "plain `fetch`", here("bare-client.ts", "fetch")),
      one("tuned", "`node:http`, kept alive", here("bare-client.ts", "node")),
      one("parley-fetch", "Parley by `fetch`", here("parley-client.ts", "fetch")),
      one("parley", "Parley on Node", here("parley-client.ts", "node")),
      one("official-v2", V2, peer("official-v2.mjs")),
      one("official-v1", V1, peer("official-v1.mjs")),
    ],
  },
];

const inProcess: Suite[] = [
  {
    id: "in-memory",
    measure: probe,
    warmUp: true,
    contenders: [
      one("plain", "JSON alone", here("bare-memory.ts")),
      one("parley", "Parley", here("parley-memory.ts")),
      one("official-v2", V2, peer("official-v2.mjs", "memory")),
      one("official-v1", V1, peer("official-v1.mjs", "memory")),
    ],
  },
  {
    id: "tools-growth",
    measure: probe,
    warmUp: true,
    contenders: [
      one("plain", "Parley, 1 tool", here("parley-answers.ts", "call", "1")),
      one("parley", "Parley, 1,000 tools", here("parley-answers.ts", "call", "1000")),
      one("official-v2-1", `${V2} by its handler, 1 tool`, peer("official-v2.mjs", "fetch", "call", "1")),
      one("official-v2-50", `${V2} by its handler, 50 tools`, peer("official-v2.mjs", "fetch", "call", "50")),
    ],
  },
  {
    id: "tools-list",
    measure: probe,
    warmUp: true,
    contenders: [
      one("parley", "Parley", here("parley-answers.ts", "list", "50")),
      one("parley-fetch", "Parley by `fetchHandler`", here("parley-fetch.ts", "list", "50")),
      one("official-v2", `${V2} by its handler`, peer("official-v2.mjs", "fetch", "list", "50")),
    ],
  },
];

const firstAnswer = (id: string, contenders: Contender[]): Suite => ({
  id,
  measure: firstAnswerTime,
  warmUp: true,
  rounds: fresh,
  contenders,
});

const firstAnswerAlone = firstAnswer("first-answer", [
  one("plain", PLAIN, here("bare-pipe.ts"), "2025"),
  one("parley", "Parley", here("parley-stdio.ts"), "2025"),
]);

const firstAnswerZod = firstAnswer("first-answer-zod", [
  one("plain", `${PLAIN} that imports zod`, here("bare-pipe-zod.ts"), "2025"),
  one("parley", "Parley", here("parley-stdio-zod.ts"), "2025"),
  one("official-v2", V2, peer("official-v2.mjs", "stdio"), "2025"),
  one("official-v1", V1, peer("official-v1.mjs", "stdio"), "2025"),
  one("tmcp", "tmcp", peer("tmcp.mjs", "stdio"), "2025"),
]);

const imports: Suite = {
  id: "import",
  measure: importTime,
  warmUp: true,
  rounds: fresh,
  contenders: [
    one("plain", "nothing", here("")),
    one("parley", "`@parley/mcp`", here("@parley/mcp")),
    one("parley-node", "`@parley/mcp/node`", here("@parley/mcp/node")),
    one("official-v2", V2, peer("@modelcontextprotocol/server")),
    one("official-v1", V1, peer("@modelcontextprotocol/sdk/server/mcp.js")),
    one("mcp-lite", "mcp-lite", peer("mcp-lite")),
    one("tmcp", "tmcp", peer("tmcp")),
  ],
};

const start: Suite[] = [
  firstAnswerAlone,
  onRuntime("node24", "first-answer-node24", firstAnswerAlone),
  firstAnswerZod,
  onRuntime("node24", "first-answer-zod-node24", firstAnswerZod),
  imports,
  onRuntime("node24", "import-node24", imports),
];

const bundle = (id: string, contenders: Contender[]): Suite => ({
  id,
  measure: bundleSize,
  warmUp: false,
  rounds: () => 1,
  contenders,
});

const size: Suite[] = [
  {
    id: "session-heap",
    measure: sessionHeap,
    warmUp: false,
    rounds: few,
    contenders: [
      one("parley", "Parley", here("parley-http.ts")),
      one("official-v1", V1, peer("official-v1.mjs", "sessions")),
      one("mcp-lite", "mcp-lite", peer("mcp-lite.mjs", "sessions")),
      one("tmcp", "tmcp", peer("tmcp.mjs", "http")),
    ],
  },
  {
    id: "stream-heap",
    measure: streamHeap,
    warmUp: false,
    rounds: few,
    contenders: [
      one("plain", PLAIN, here("bare-http.ts")),
      one("parley", "Parley", here("parley-http.ts")),
      one("official-v2", V2, peer("official-v2.mjs", "http")),
      one("tmcp", "tmcp", peer("tmcp.mjs", "http")),
    ],
  },
  bundle("bundle", [
    one("parley", "Parley", here("bundle-parley.ts")),
    one("official-v2", `${V2}, which needs zod itself`, peer("bundle-official-v2-json.mjs")),
    one("mcp-lite", "mcp-lite, far fewer features", peer("bundle-mcp-lite.mjs")),
  ]),
  bundle("bundle-zod", [
    one("parley", "Parley", here("bundle-parley-zod.ts")),
    one("official-v2", V2, peer("bundle-official-v2.mjs")),
    one("mcp-lite", "mcp-lite, far fewer features", peer("bundle-mcp-lite-zod.mjs")),
    one("tmcp", "tmcp", peer("bundle-tmcp.mjs")),
  ]),
];

const component = (name: string, contenders: Contender[]): Suite => ({
  id: `component-${name}`,
  measure: probe,
  warmUp: true,
  contenders,
});

const components: Suite[] = [
  component("parse", [
    one("plain", "`JSON.parse` alone, 58 bytes", here("components/parse.ts", "json", "58")),
    one("parley", "Parley, 58 bytes", here("components/parse.ts", "parley", "58")),
    one("parley-145", "Parley, 145 bytes", here("components/parse.ts", "parley", "145")),
    one("parley-1024", "Parley, 1 KiB", here("components/parse.ts", "parley", "1024")),
    one("parley-4096", "Parley, 4 KiB", here("components/parse.ts", "parley", "4096")),
  ]),
  component("validate", [
    one("parley", "Parley, 2 properties", here("components/validate.ts", "parley", "small")),
    one("parley-wide", "Parley, 40 properties", here("components/validate.ts", "parley", "wide")),
    one("cfworker", "@cfworker/json-schema, 2 properties", here("components/validate.ts", "cfworker", "small")),
    one("ajv", "ajv (generates code), 2 properties", here("components/validate.ts", "ajv", "small")),
  ]),
  component("tracking", [
    one("parley", "Parley, 1,000 outstanding", here("components/tracking.ts", "1000")),
    one("parley-100000", "Parley, 100,000 outstanding", here("components/tracking.ts", "100000")),
    one("parley-armed", "Parley, 1,000 outstanding, deadline armed", here("components/tracking.ts", "1000", "armed")),
    one(
      "parley-armed-100000",
      "Parley, 100,000 outstanding, deadline armed",
      here("components/tracking.ts", "100000", "armed"),
    ),
  ]),
  component("read", [
    one("parley", "Parley, by URI", here("components/read.ts", "static")),
    one("parley-template", "Parley, by template", here("components/read.ts", "template")),
  ]),
  component("notify", [
    one("parley-1", "Parley, 1 subscriber", here("components/notify.ts", "1")),
    one("parley-100", "Parley, 100 subscribers", here("components/notify.ts", "100")),
    one("parley", "Parley, 1,000 subscribers", here("components/notify.ts", "1000")),
  ]),
  component("routing", [
    one("parley", "Parley, by path", here("components/routing.ts", "path")),
    one("parley-header", "Parley, by header", here("components/routing.ts", "header")),
  ]),
  component("search", [one("parley", "Parley, 1,000 tools", here("components/search.ts"))]),
];

/** Everything that is measured, by the suites that measure it. */
export const SUITES: readonly Suite[] = [
  ...load,
  ...inProcess,
  ...start,
  ...size,
  ...components,
  ...ENDURANCE_SUITES,
  ...STORAGE_SUITES,
  ...TELEMETRY_SUITES,
  ...CLI_SUITES,
];
