import type { Lane } from "./lane.js";
import { calls } from "./lanes/calls.js";
import { costs } from "./lanes/costs.js";
import { faults } from "./lanes/faults.js";
import { host } from "./lanes/host.js";
import { hostile } from "./lanes/hostile.js";
import { isolation } from "./lanes/isolation.js";
import { registry } from "./lanes/registry.js";
import { replicas, replicasOnCluster } from "./lanes/replicas.js";
import { resume } from "./lanes/resume.js";
import { sessions } from "./lanes/sessions.js";
import { slowloris } from "./lanes/slowloris.js";
import { fleet, mutants, simulation, taskSimulation } from "./lanes/started.js";
import { storm } from "./lanes/storm.js";
import { streams } from "./lanes/streams.js";
import { tasks } from "./lanes/tasks.js";

/** Every lane, in the order in which they run. */
export const LANES: readonly Lane[] = [
  calls,
  streams,
  sessions,
  resume,
  faults,
  slowloris,
  storm,
  isolation,
  hostile,
  tasks,
  registry,
  host,
  replicas,
  replicasOnCluster,
  costs,
  simulation,
  taskSimulation,
  fleet,
  mutants,
];
