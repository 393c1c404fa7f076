/** Recording, export, import, replay and sharing of sessions. */
export function KeepView() {
  return null;
}
