// The texts of the panel in English, by room. This is the source: the other languages have the same shape.

export const panel = {
  toolbar: {
    title: 'Time between tokens',
    invitation: 'Send a message to see the time between tokens, live.',
    titleHelp: 'TBT: milliseconds between two tokens as they arrive, bursts not smoothed.',
    running: 'Running',
    log: 'Log',
    logHelp: 'Logarithmic scale of milliseconds',
    pin: 'Pin',
    pinHelp: 'Keep this run in the chart and compare later runs with it',
    saveJson: 'Save this run as JSON',
    saveCsv: 'Save this run as CSV',
    pinWhenOver: 'You can pin a run once it has ended',
    isPinned: 'This run is pinned',
    pinsAreFull: (n: number) => `${n} runs are pinned: unpin one first`,
  },
};

export type PanelWords = typeof panel;
