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
  chart: {
    help: 'Drag to select a range, Shift-drag to move it, scroll to zoom, double-click to reset. Keys: + and −, Shift and arrows, 0.',
    enlarge: 'Fill the window',
    close: 'Close (Escape)',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    resetZoom: 'Reset zoom',
    tokens: (from: number, to: number, all: number) => `Tokens ${from} to ${to} of ${all}`,
    positions: (from: number, to: number) => `Positions ${from} to ${to}`,
    lengths: (from: string, to: string) => `Gaps from ${from} to ${to}`,
    tooFew: '(too few)',
    tooFewHelp: (n: number, least: number) => `Of only ${n} gaps it is simply the longest; it needs ${least}.`,
    everything: 'Showing everything.',
    noGaps: (range: string) => `${range}: no gaps.`,
    figures: (range: string, n: number, p50: string, p99: string, max: string) =>
      `${range}: n = ${n}, p50 ${p50}, p99 ${p99}, max ${max}.`,
  },
  legend: {
    name: 'Legend',
    gaps: 'gap before each token',
    ofThisRun: 'gap of this run',
    ofEarlierRuns: 'gaps of earlier runs',
    median: (gaps: number) => `running median of ${gaps} gaps`,
    run: (letter: string) => `run ${letter}`,
    medianOf: (letter: string) => `median of run ${letter}`,
    count: 'number of gaps',
    firstToken: 'first token',
    answer: 'answer begins',
    recovery: 'recovery',
    stalls: 'stalls',
  },
};

export type PanelWords = typeof panel;
