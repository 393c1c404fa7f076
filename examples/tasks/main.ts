import { connect } from "@parley/mcp";
import { memoryStorage } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import { done, node } from "./server.js";

const storage = memoryStorage();

for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  console.log(`speaks   ${revision}`);
  const first = node(storage);
  const starter = await connect(first, {
    revisions: [revision],
    extensions: [tasks()],
    onElicit: () => ({ action: "cancel" }),
  });
  const handle = await starter.startTask("report", { year: 2026 });
  for await (const { status } of handle) if (status === "input_required") break;
  console.log(`status   ${handle.status}`);
  // All that is kept of the task; the client and the node that ran it are gone.
  const saved = JSON.stringify(handle);
  await starter.close();
  await first.close();

  const second = node(storage);
  const client = await connect(second, {
    revisions: [revision],
    extensions: [tasks()],
    onElicit: ({ message }) => {
      console.log(`asked    ${message}`);
      return { action: "accept", content: { format: "pdf" } };
    },
  });
  console.log(`result   ${await client.task(JSON.parse(saved)).result()}`);
  await client.close();
  await second.close();
  console.log(`done     ${done.splice(0).join(", ")}`);
}
