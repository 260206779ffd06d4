import { StrictMode, useEffect, useState, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { open } from "tokamak-web";

const MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct";

/** Opens the model once for the component's life; one that is taken away while it opens leaves nothing behind. */
function useEngine(model) {
  const [state, setState] = useState({ engine: null, status: "Opening …" });
  useEffect(() => {
    const abort = new AbortController();
    const opened = open(model, {
      signal: abort.signal,
      onProgress: ({ phase, overall }) => setState({ engine: null, status: `${phase}, ${Math.round(100 * overall)} %` }),
    });
    opened.then(
      (engine) => setState({ engine, status: `${engine.model.name} is open.` }),
      (error) => error.code !== "cancelled" && setState({ engine: null, status: error.message }),
    );
    return () => {
      abort.abort();
      opened.then((engine) => engine.close(), () => undefined);
    };
  }, [model]);
  return state;
}

function Conversation({ engine }) {
  const { status, tokens } = useSyncExternalStore(engine.store.subscribe, engine.store.getSnapshot);
  const [answer, setAnswer] = useState("");

  async function ask(event) {
    event.preventDefault();
    setAnswer("");
    const question = new FormData(event.currentTarget).get("question");
    for await (const { text } of engine.chat([{ role: "user", content: question }], { maxTokens: 200 })) setAnswer((before) => before + text);
  }

  return (
    <>
      <form onSubmit={ask}>
        <input name="question" aria-label="Question" defaultValue="Tell me a story." />{" "}
        <button disabled={status !== "ready"}>Ask</button>
      </form>
      <p role="status">{status === "busy" ? "It writes …" : `${tokens} tokens so far`}</p>
      <p id="answer">{answer}</p>
    </>
  );
}

function App() {
  const { engine, status } = useEngine(MODEL);
  return engine ? <Conversation engine={engine} /> : <p role="status">{status}</p>;
}

createRoot(document.getElementById("root")).render(<StrictMode><App /></StrictMode>);
