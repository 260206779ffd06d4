// The page's side: it knows nothing of the engine, and has one Worker for all that takes long.
const [form, status, answer] = ["form", "#status", "#answer"].map((name) => document.querySelector(name));
const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });

worker.onmessage = ({ data }) => {
  if (data.status) status.textContent = data.status;
  if (data.ready) form.querySelector("button").disabled = false;
  if (data.text) answer.append(data.text);
};
form.addEventListener("submit", (event) => {
  event.preventDefault();
  answer.textContent = "";
  worker.postMessage({ question: new FormData(form).get("question") });
});
