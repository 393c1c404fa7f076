import { httpFetch } from "../scenarios/transports/http-fetch.js";
import { cases } from "./cases.js";
import { direct } from "./direct.js";
import { runCells } from "./run-cells.js";

/** A worker that runs the cases when it is asked, and answers with what came of them. */
export default {
  async fetch(): Promise<Response> {
    const outcomes = await runCells(cases, [direct, httpFetch], 4);
    return Response.json({ outcomes });
  },
};
