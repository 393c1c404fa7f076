/** One server-sent event as its bytes go out. Every line of `data` needs its own field, or a reader would lose the rest. */
export function eventFrame(data: string, id?: string, name?: string): string {
  // JSON text never holds a raw line break; only other data has to be looked at line by line.
  const lines = data.includes("\n") || data.includes("\r") ? data.split(/\r\n|\n|\r/).join("\ndata: ") : data;
  const head = name === undefined ? "" : `event: ${name}\n`;
  return id === undefined ? `${head}data: ${lines}\n\n` : `${head}id: ${id}\ndata: ${lines}\n\n`;
}

/** Tells the client how long to wait before it comes back. */
export function retryFrame(ms: number): string {
  return `retry: ${Math.max(0, Math.round(ms))}\n\n`;
}

/** A line that readers ignore and proxies count as traffic. */
export const COMMENT_FRAME = ":\n\n";
