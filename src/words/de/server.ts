// What the page and the script tag say of servers that answer, in German.

import type { ServerWords } from '../en/server';

export const server: ServerWords = {
  title: 'Server',
  help: 'Ein Server mit der Schnittstelle von OpenAI antwortet anstelle dieser Seite oder neben ihr: vLLM, SGLang, llama.cpp oder einer Ihrer Firma.',
  address: 'Adresse',
  key: 'Schlüssel, falls er einen verlangt',
  remember: 'Schlüssel auf diesem Computer merken',
  rememberHelp:
    'Ohne das wird der Schlüssel vergessen, wenn die Seite geschlossen wird. Damit liegt er in diesem Browser, wo andere Seiten dieser Website ihn lesen können.',
  model: 'Modell',
  firstModel: 'Das erste, das der Server nennt',
  who: 'Wer antwortet',
  rules: {
    remote: 'Der Server',
    loaded: 'Der Server, bis das Modell dieser Seite geladen ist',
    longer: 'Der Server, wenn eine Unterhaltung lang ist',
  },
  tokens: 'Ab wie vielen Tokens',
  connect: 'Verbinden',
  apply: 'Übernehmen',
  connecting: (host) => `Verbindung mit ${host} …`,
  connected: (host, model) => `Mit ${host} verbunden. Dort antwortet ${model}.`,
  disconnect: 'Trennen',
  cancel: 'Abbrechen',
  noAddress: 'Geben Sie die Adresse eines Servers ein, etwa http://localhost:8080/v1.',
  holdsSecret:
    'Lassen Sie Benutzername, Passwort, Abfrage und Fragment aus der Adresse weg. Ein Schlüssel hat sein eigenes Feld.',
  badRule: 'Geben Sie eine ganze Zahl von Tokens ab 0 ein.',
  ask: (host) => `Was Sie schreiben, an ${host} senden?`,
  asks: {
    remote: (host) =>
      `${host} antwortet anstelle dieser Seite. Ihre Nachrichten, die bisherige Unterhaltung und angehängte Texte gehen dorthin, und wer den Server betreibt, kann sie lesen.`,
    loaded: (host) =>
      `${host} antwortet, bis das Modell dieser Seite geladen ist und wenn es ausfällt. Ihre Nachrichten, die bisherige Unterhaltung und angehängte Texte gehen dann dorthin, und wer den Server betreibt, kann sie lesen.`,
    longer: (host, tokens) =>
      `${host} beantwortet Unterhaltungen mit mehr als ${tokens} Tokens und springt ein, wenn das Modell dieser Seite ausfällt. Ihre Nachrichten, die bisherige Unterhaltung und angehängte Texte gehen dann dorthin, und wer den Server betreibt, kann sie lesen.`,
  },
  inTheClear: 'Die Verbindung ist nicht verschlüsselt: Andere im Netz können mitlesen.',
  allow: 'Dorthin senden',
  refuse: 'Nichts senden',
  refused: (host) => `An ${host} wird nichts gesendet.`,
  refusedAll: (host) => `An ${host} wird nichts gesendet. Deshalb antwortet hier nichts.`,
  askAgain: 'Erlauben',
  line: {
    remote: (host) => `Was Sie schreiben, geht an ${host}; dort wird geantwortet.`,
    loaded: (host) => `${host} antwortet, bis das Modell geladen ist. Was Sie schreiben, geht dorthin.`,
    here: (host) => `Diese Seite antwortet. Fällt ihr Modell aus, geht die Unterhaltung an ${host}.`,
    longer: (host, tokens) => `Unterhaltungen mit mehr als ${tokens} Tokens gehen an ${host}.`,
  },
  lead: (host) => `Ein Chat mit einem Modell auf ${host}. Was Sie schreiben, geht dorthin.`,
  withdraw: 'Nichts mehr senden',
  withdrawHelp: (host) => `Sie haben erlaubt, dass diese Seite an ${host} sendet, was Sie schreiben.`,
  failed: (host) => `Keine Verbindung mit ${host}.`,
  next: {
    mixed: ({ host }) =>
      `Diese Seite kam über https:, und Browser lassen sie nur Server mit https: oder auf diesem Computer fragen. Geben Sie ${host} ein Zertifikat, oder öffnen Sie die Seite von http://localhost.`,
    unreachable: ({ host, page }) =>
      `Prüfen Sie, ob ${host} läuft und die Adresse stimmt. Wenn ja, darf diese Seite die Antworten vielleicht nicht lesen (CORS): Der Server muss ${page} erlauben (vLLM: --allowed-origins).`,
    noKey: 'Geben Sie den Schlüssel des Servers ein.',
    wrongKey: 'Prüfen Sie den Schlüssel und was er darf.',
    busy: 'Warten Sie einen Moment und versuchen Sie es noch einmal.',
    notFound: 'Prüfen Sie die Adresse: Die der meisten Server endet auf /v1.',
    failed: 'Versuchen Sie es noch einmal. Scheitert es wieder, sagt das Protokoll des Servers, warum.',
    wrongKind:
      'Prüfen Sie die Adresse: Sie muss zu einem Server mit der Schnittstelle von OpenAI gehören und endet meist auf /v1.',
    model: 'Wählen Sie eines der Modelle des Servers.',
    silent: 'Vielleicht lädt der Server sein Modell noch. Versuchen Sie es später noch einmal.',
    other: 'Prüfen Sie die Adresse und versuchen Sie es noch einmal.',
  },
};
