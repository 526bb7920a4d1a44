// The page's part of `panel-cost`, evaluated inside the chat page, so it names nothing outside of its function.

/** Decode tokens a second of each answer, by the engine's clock. All answers are greedy, so they are the same. */
export async function comparePanel(request: { rounds: number; prompt: string; runAhead: 'auto' | number }) {
  const { rounds, prompt, runAhead } = request;
  const panel = document.querySelector('vivace-metrics');
  const engine = document.querySelector('vivace-chat')?.engine;
  const place = panel?.parentNode;
  if (!panel || !place || !engine) throw new Error('The page has no panel or no model.');
  let tokens = 0;
  let drawn = 0;

  const answer = async (isOn: boolean) => {
    if (isOn) place.append(panel);
    else panel.remove();
    await new Promise((resolve) => setTimeout(resolve, 200)); // the cost of the change itself is not measured
    if (isOn) panel.reset();
    let rate = 0;
    const options = { temperature: 0, runAhead, gpuTimes: true };
    for await (const event of engine.chat([{ role: 'user', content: prompt }], options)) {
      if (isOn) panel.record(event);
      if (event.type !== 'done') continue;
      rate = event.metrics.decodeTokensPerSecond ?? 0;
      tokens = event.usage.completionTokens;
    }
    if (isOn) panel.end();
    return rate;
  };

  for (const isOn of [true, false, true, false]) await answer(isOn); // warm
  const on: number[] = [];
  const off: number[] = [];
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that neither gains from what the other leaves behind.
    for (const isOn of round % 2 === 0 ? [true, false] : [false, true]) (isOn ? on : off).push(await answer(isOn));
    drawn = Number(panel.getAttribute('data-points'));
  }
  return { adapter: engine.info.adapter, tokens, drawn, on, off };
}
