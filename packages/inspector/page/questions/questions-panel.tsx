/** The questions of servers that wait for an answer. */
export function QuestionsPanel() {
  return null;
}
