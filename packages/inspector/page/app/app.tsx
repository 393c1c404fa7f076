/** The whole page. */
export function App() {
  return <h1>Parley inspector</h1>;
}
