import { type ClientOptions, connect } from "@parley/mcp";
import { held, server } from "./server.js";

const user = (pays: boolean): NonNullable<ClientOptions["onElicit"]> => {
  return ({ message }) => {
    console.log(`asked    ${message}`);
    if (message === "Which seat?") return { action: "accept", content: { seat: "window" } };
    if (message === "Anything else?") return { action: "accept", content: { extras: ["bike"] } };
    return pays ? { action: "accept", content: { pay: true } } : { action: "decline" };
  };
};

for (const [revision, pays] of [
  ["2025-11-25", true] as const,
  ["2026-07-28", true] as const,
  ["2026-07-28", false] as const,
]) {
  console.log(`speaks   ${revision}`);
  const client = await connect(server, { revisions: [revision], onElicit: user(pays) });
  const { isError, content, structuredContent } = await client.callTool("book", { to: "Oslo" });
  console.log(
    isError === true ? `failed   ${JSON.stringify(content)}` : `booked   ${JSON.stringify(structuredContent)}`,
  );
  await client.close();
}
console.log(`held     ${[...held].join(", ")}`);
