import { handler } from "./notes.mjs";

// The address comes from DENO_SERVE_ADDRESS.
Deno.serve(handler);
