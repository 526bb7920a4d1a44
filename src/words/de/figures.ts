// The texts of the panel's figures in German.

import type { figures as source } from '../en/figures';

const gap = (n: number) => `${n} von 100 Abständen zwischen Tokens sind nicht länger.`;
const step = 'Die eigene Zeit der GPU für einen Schritt, aus ihren Zeitstempeln, ohne Warten und Übertragung.';
const before = (what: string) => `Vor der ersten Antwort: ${what} Das gehört nicht zur TTFT.`;

export const figures: typeof source = {
  titles: {
    timing: 'Zeiten',
    first: 'Zeit bis zum ersten Token',
    gpu: 'Auf der GPU',
    step: 'Decode-Schritt',
    perToken: 'Pro Token',
    memory: 'Speicher der GPU',
    machine: 'Modell und Gerät',
    network: 'Netz und Server',
    server: 'Modell und Server',
  },
  percentiles: { p50: 'p50', p95: 'p95', p99: 'p99', max: 'max.' },
  gaps: {
    p50: 'Die Hälfte der Abstände zwischen Tokens ist nicht länger.',
    p95: gap(95),
    p99: gap(99),
    max: 'Der längste Abstand zwischen zwei Tokens dieses Laufs.',
  },
  steps: { p50: step, p95: step, p99: step, max: step },
  stepOf: (percentile) => `Schritt ${percentile}`,
  gapCount: (n) => `n = ${n} ${n === 1 ? 'Abstand' : 'Abstände'}.`,
  together: (mean) => `Tokens kommen in Gruppen, im Mittel ${mean} auseinander.`,
  stepCount: (n) => `n = ${n} ${n === 1 ? 'Schritt' : 'Schritte'}.`,
  needs: (name, least) => `${name} braucht ${least}.`,
  tooFewGaps: (n, least) =>
    `Bei nur ${n} ${n === 1 ? 'Abstand' : 'Abständen'} ist es einfach der längste; nötig sind ${least}.`,
  tooFewSteps: (n, least) =>
    `Bei nur ${n} ${n === 1 ? 'Schritt' : 'Schritten'} ist es einfach der längste; nötig sind ${least}.`,
  recoveryCount: (n) =>
    n === 1
      ? 'Einer ist eine Wiederherstellung und zählt wie jeder andere.'
      : `${n} sind Wiederherstellungen und zählen wie alle anderen.`,
  recoveries: (n) => (n === 1 ? 'Wiederherstellung' : `${n} Wiederherstellungen`),
  recoveriesHelp: (what) =>
    `${what} Eine solche Pause ist ein Abstand wie jeder andere: Sie zählt in Mittel, Perzentilen, Histogramm und Decode-Rate.`,
  inOut: (prompt, out) => `${prompt} ein, ${out} aus`,
  of: (n, all) => `${n} von ${all}`,
  timingNote: 'Nach der Uhr im Worker der Engine, die Browser runden: in Chromium auf 0,1 ms.',
  gpuNote: 'Nach der Uhr der GPU, die Browser auf 65 Mikrosekunden runden, außer mit Entwicklerfunktionen.',
  batchNote: (n) => `Schritte liefen für bis zu ${n} Antworten zugleich.`,
  stepNote: (reason) =>
    `${reason}. Verschmolzene Schritte berechnen die Attention selbst; der Decode-Kernel oben läuft in einfachen Schritten.`,
  cpuNote: 'Das CPU-Backend startet keine Kernel; es gibt nichts zu zählen.',
  decode: ['Decode', 'Erzeugte Tokens pro Sekunde nach dem ersten: (n − 1) / (Zeit des letzten − Zeit des ersten).'],
  tokens: ['Tokens', 'Tokens des Prompts und erzeugte Tokens.'],
  mean: ['Mittel', 'Mittlere Zeit zwischen Tokens. Sie verbirgt Stockungen: siehe p99 und das Diagramm.'],
  jitter: ['Jitter', 'Mittlere absolute Differenz benachbarter Abstände. 0 ist ein vollkommen gleichmäßiger Strom.'],
  ttft: ['Erstes Token', 'TTFT: von der Anfrage bis zum ersten Token, von der Engine gemessen.'],
  ttftSoFar: 'TTFT: von der Anfrage bis zum ersten Token, wie diese Seite sie sieht, bis der Lauf beendet ist.',
  prefillRate: ['Prefill', 'Tokens des Prompts pro Sekunde. Nicht gezählt werden die, die noch im Cache lagen.'],
  tokenize: ['– Tokenisieren', 'Teil der TTFT: Chat-Vorlage und Text zu Token-Nummern.'],
  prefill: [
    '– Prefill',
    'Teil der TTFT: der Prompt durch das Modell. Währenddessen: fertige Tokens des Prompts, und alle.',
  ],
  cached: ['Aus Cache', 'Tokens des Prompts, deren Keys und Values noch da waren: für sie kein Prefill.'],
  cache: [
    '– woher',
    'Woher die wiederverwendeten Tokens kamen, oder warum ein längerer, schon bekannter Anfang neu gerechnet wird.',
  ],
  cacheReports: {
    live: 'die letzte Anfrage',
    parked: 'ein im Speicher behaltener Chat',
    stored: 'im Speicher dieses Browsers',
    new: 'kein bekannter Anfang',
    evicted: 'aufgegeben: kein Platz mehr',
    refused: 'aufgegeben: die GPU brauchte Speicher',
    cleared: 'aufgegeben nach einem Fehler',
    off: 'nicht verlangt',
  },
  loaded: ['Laden', before('Das Modell wurde geladen.')],
  opened: ['– Öffnen', before('Kopf, Tokenizer und Konfiguration des Modells wurden gelesen.')],
  weighed: ['– Gewichte', before('Die Gewichte wurden gelesen und abgelegt, während Kernel kompiliert wurden.')],
  compiled: [
    '– Kompilieren',
    before('Was das Kompilieren darüber hinaus dauerte, die Prüfung der Kernel und ein erster Durchgang.'),
  ],
  step: [
    'Schritt',
    'Verschmolzen (fused): ein Aufruf für alle Schichten. Einfach (plain): ein Aufruf für jede Operation. Ein verschmolzener Schritt, der zu lange wartet, gibt auf und läuft als einfacher noch einmal.',
  ],
  dispatches: ['Dispatches', 'Auf der GPU gestartete Kernel pro Token.'],
  submits: ['Submits', 'Der GPU übergebene Befehlspuffer pro Token.'],
  syncs: ['Syncs', 'Rückgaben pro Token, auf die die CPU warten musste.'],
  bytesRead: ['Rückgabe', 'Bytes pro Token, die von der GPU zurückkamen: Nummern, keine Logits.'],
  runAhead: [
    'Vorlauf',
    'Schritte, die auf der GPU vor dem gerade gelesenen anstehen, damit sie nie auf die CPU wartet.',
  ],
  needed: (weights, kv) =>
    `Was ein Schritt aus dem Speicher der GPU lesen muss: ${weights} Gewichte und ${kv} für jede Position des mittleren Kontexts dieses Laufs.`,
  neededInWindow: (kv, positions) =>
    `Schichten mit Fenster lesen zusätzlich ${kv} für jede der letzten ${positions} Positionen.`,
  neededLabel: 'Gelesen pro Token',
  bandwidth: 'Bandbreite',
  bandwidthHelp: {
    gpu: 'Diese Bytes pro Sekunde, nach der eigenen Zeit der GPU für einen Schritt (p50).',
    gaps: 'Diese Bytes pro Sekunde, nach dem mittleren Abstand zwischen Tokens.',
    shared: 'Unbekannt: Schritte liefen für mehrere Antworten zugleich und lasen Keys und Values einer jeden.',
    none: 'Diese Bytes pro Sekunde.',
  },
  ofPeak: 'Anteil am Höchsten',
  ofPeakHelp: (speed, clock) =>
    `Von ${speed}, dem Höchsten, was einer unserer Kernel hier liest, gemessen mit der Uhr der ${clock === 'gpu' ? 'GPU' : 'CPU'}. Ein kleines Modell bleibt im Cache der GPU und kann darüber liegen.`,
  noPeak: 'Wie nah das Lesen dem Höchsten kommt, was der Speicher dieser GPU gibt: messen Sie zuerst die Roofline.',
  weights: ['Gewichte', 'Puffer, die das Modell halten.'],
  kvCache: ['KV-Cache', 'Keys und Values des ganzen Kontexts, beim Laden angelegt.'],
  activations: ['Aktivierungen', 'Alles andere: Aktivierungen, Arbeitsspeicher der Attention, Rückgaben, Zeitstempel.'],
  parked: [
    'Andere Chats',
    'Keys und Values von Chats, die neben dem laufenden behalten werden, damit sie nicht neu gelesen werden müssen.',
  ],
  peak: ['Höchststand', 'Die meisten Bytes zur selben Zeit, das Laden eingeschlossen.'],
  backend: ['Backend', 'Was rechnet: WebGPU oder einfache Schleifen.'],
  adapter: ['Adapter', 'Die GPU, wie der Browser sie nennt.'],
  model: 'Modell',
  layers: (architecture, n) => `${architecture}, ${n} ${n === 1 ? 'Schicht' : 'Schichten'}`,
  format: ['Gewichte', 'Zahlenformate in der Datei und ihre Größe.'],
  context: ['Kontext', 'Tokens, die hineinpassen, und wie ihre Keys und Values gespeichert werden.'],
  contextValue: (tokens, kv) => `${tokens} Tokens, KV ${kv}`,
  arithmetic: [
    'Aktivierungen',
    'Womit quantisierte Matrizen multipliziert werden: Bytes mit Vorzeichen (q8) oder f32, was exakt ist.',
  ],
  raced: { decode: 'Vergleich, Decode', prefill: 'Vergleich, Prefill' },
  racedHelp: (size, spread) =>
    `Ein Lauf eines Produkts von ${size}, mit Bytes mit Vorzeichen (q8) und in f32. Die Runden streuen um ${spread}.`,
  arithmeticCauses: {
    asked: 'Die Aktivierungen wurden ausdrücklich verlangt.',
    raced:
      'Beim Laden wurde gemessen, welche Aktivierungen auf dieser GPU schneller sind. Bei Gleichstand gewinnt f32, das exakt ist, oder der verschmolzene Schritt.',
    kept: 'Bei einem früheren Laden wurde gemessen, welche Aktivierungen auf dieser GPU schneller sind. Bei Gleichstand gewinnt f32, das exakt ist, oder der verschmolzene Schritt.',
    software: 'Eine GPU in Software rechnet in f32; gemessen wird nichts.',
    plain: 'Keine Matrix dieses Modells enthält ganze Zahlen; alles wird in f32 multipliziert.',
    cpu: 'Das CPU-Backend rechnet in f32.',
    failed:
      'Die Messung der Aktivierungen brachte kein Ergebnis. Verwendet wird q8; beim nächsten Laden wird neu gemessen.',
  },
  networkFirst: [
    'Netz, erstes Token',
    'Teil der TTFT, den der Server nicht für den Prompt brauchte: der Weg hin und zurück und seine Warteschlange.',
  ],
  serverFirst: ['Server, erstes Token', 'Teil der TTFT: die eigene Zeit des Servers für den Prompt.'],
  networkGap: [
    'Netz, pro Abstand',
    'Was der mittlere Abstand zwischen Tokens über die eigene Zeit des Servers hinaus hat.',
  ],
  serverGap: ['Server, pro Abstand', 'Die eigene mittlere Zeit des Servers von Token zu Token.'],
  accepted: ['Angenommen', 'Von der Anfrage bis zum Beginn der Antwort des Servers, vor jedem Token.'],
  tokensPerChunk: ['Tokens auf einmal', 'Mittlere Zahl der Tokens, die zusammen ankamen.'],
  networkNote: 'Ankunft nach der Uhr dieser Seite, der Teil des Servers nach seiner eigenen.',
  noServerTimes: 'Dieser Server nennt keine eigenen Zeiten; Netz und Server lassen sich nicht trennen.',
  arrivalNote: 'Nach der Uhr dieser Seite, wenn die Bytes eines Tokens ankamen.',
  server: ['Server', 'Der Rechner, der antwortet, und was auf ihm läuft.'],
  serverContext: ['Kontext', 'Tokens, die hineinpassen, wie der Server sagt.'],
  load: 'Laden',
  loadHelp: (open, weights, compile) => `Öffnen ${open}, Gewichte ${weights}, Kompilieren ${compile}.`,
};
