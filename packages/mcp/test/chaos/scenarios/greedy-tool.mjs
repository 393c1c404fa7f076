// A tool that takes memory until its process has none left.
export function hoard() {
  const held = [];
  for (;;) held.push(new Array(1_000_000).fill(held.length));
}
