// Runs inside the chat page (page.evaluate): answers of one engine, in turns with the panel and without it.

/**
 * Decode tokens a second of each answer, by the engine's clock. Every answer is the same: greedy.
 * @param {{ rounds: number, prompt: string, runAhead: 'auto' | number }} request
 */
export async function comparePanel({ rounds, prompt, runAhead }) {
  const panel = document.querySelector('vivace-metrics');
  const engine = document.querySelector('vivace-chat')?.engine;
  const place = panel?.parentNode;
  if (!panel || !place || !engine) throw new Error('The page has no panel or no model.');
  let tokens = 0;
  let drawn = 0;

  /** @param {boolean} isOn */
  const answer = async (isOn) => {
    if (isOn) place.append(panel);
    else panel.remove();
    await new Promise((resolve) => setTimeout(resolve, 200)); // what the change itself costs is not asked
    if (isOn) panel.reset();
    let rate = 0;
    for await (const event of engine.chat([{ role: 'user', content: prompt }], { temperature: 0, runAhead })) {
      if (isOn) panel.record(event);
      if (event.type !== 'done') continue;
      rate = event.metrics.decodeTokensPerSecond ?? 0;
      tokens = event.usage.completionTokens;
    }
    if (isOn) panel.end();
    return rate;
  };

  for (const isOn of [true, false, true, false]) await answer(isOn); // warm
  /** @type {number[]} */
  const on = [];
  /** @type {number[]} */
  const off = [];
  for (let round = 0; round < rounds; round++) {
    // Which comes first changes, so that neither gains from what the other leaves behind.
    for (const isOn of round % 2 === 0 ? [true, false] : [false, true]) (isOn ? on : off).push(await answer(isOn));
    drawn = Number(panel.getAttribute('data-points'));
  }
  return { adapter: engine.info.adapter, tokens, drawn, on, off };
}
