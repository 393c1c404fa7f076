/** Computes for as long as it is told, without a pause. */
export default function busy({ ms }) {
  const until = performance.now() + ms;
  while (performance.now() < until);
  return "done";
}
