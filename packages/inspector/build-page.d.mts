/** Writes the page into a folder: `index.html`, `inspector.js` and `inspector.css`. */
export function buildPage(folder: string): Promise<void>;
