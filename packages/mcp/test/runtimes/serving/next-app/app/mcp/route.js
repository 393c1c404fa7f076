import { handler } from "../../../notes.mjs";

export const POST = handler;
export const GET = handler;
export const DELETE = handler;
