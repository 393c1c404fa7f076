// The limit for stdio with a schema library: what importing it and describing two numbers by it costs any program.
import { z } from "zod";
import "./bare-pipe.js";

z.toJSONSchema(z.object({ a: z.number(), b: z.number() }));
