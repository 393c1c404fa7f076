import { handler } from "./notes.mjs";

// Bun reads the address here; Deno and Workers take theirs from elsewhere.
export default { port: 0, hostname: "127.0.0.1", fetch: handler };
