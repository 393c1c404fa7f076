import type { Lane } from "../soak/lane.js";
import { invalidPayload, largePayload, messageFlood, storageFull } from "./scenarios/input-scenarios.js";
import { connectionLeak, networkPartition, slowConsumer } from "./scenarios/network-scenarios.js";
import { cpuSaturation, memoryExhaustion, processCrash, supervisorCascade } from "./scenarios/process-scenarios.js";

/** The eleven faults, in the order in which they are injected. */
export const SCENARIOS: readonly Lane[] = [
  processCrash,
  networkPartition,
  memoryExhaustion,
  messageFlood,
  invalidPayload,
  connectionLeak,
  slowConsumer,
  supervisorCascade,
  storageFull,
  cpuSaturation,
  largePayload,
];
