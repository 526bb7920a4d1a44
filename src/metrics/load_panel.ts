// Fetches the page's panel after the first paint: a person comes to chat, and the panel may stay closed.

requestAnimationFrame(() => setTimeout(() => void import('./panel/metrics_panel')));
