// A page whose worker has the engine.

const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
worker.onmessage = ({ data }) => {
  if (data === null) document.title = 'done';
  else document.querySelector('output').textContent += data;
};
