// Errors and warnings in German, by code.

import { type ErrorWords, type Facts, isTruncated, lacksQuantization, modelsIn } from '../en/errors';

const fetchFailed = ({ host, status }: Facts): string => {
  if (!host) return 'Dort ist kein Modell, oder es fehlt ein Teil.';
  if (status === undefined) return `${host} ist nicht erreichbar. Prüfen Sie die Verbindung und die Adresse.`;
  if (status === '206')
    return `${host} hat nur einen Teil des Modells gesendet, oder etwas anderes. Prüfen Sie die Adresse.`;
  if (/^[23]/.test(status)) return 'Unter dieser Adresse liegt kein Modell.';
  if (/^4(04|10)$/.test(status)) return `${host} hat dieses Modell nicht. Prüfen Sie die Adresse.`;
  if (/^40[13]$/.test(status))
    return `${host} gibt dieses Modell nicht frei. Vielleicht ist es privat oder an Bedingungen geknüpft.`;
  return `${host} hat mit dem Fehler ${status} geantwortet.`;
};

const tooMuch = (what: string, { requestedBytes, grantedBytes }: Facts): string => {
  if (!requestedBytes) return `${what} reicht nicht.`;
  const most = grantedBytes ? `, und höchstens ${grantedBytes} gibt es` : '';
  return `${what} reicht nicht: Es werden ${requestedBytes} gebraucht${most}.`;
};

/** The place of an error in a file: " (Unterhaltung 2, Runde 3)". */
const place = ({ conversation, turn }: Facts): string => {
  const parts = [conversation && `Unterhaltung ${conversation}`, turn && `Runde ${turn}`].filter(Boolean);
  return parts.length > 0 ? ` Fehlerhaft ist ${parts.join(', ')}.` : '';
};

/** The status of a server's answer. */
const withStatus = ({ status }: Facts): string => (status ? ` (Status ${status})` : '');

const RELOADED = 'Das Modell wurde neu geladen.';

export const errors: ErrorWords = {
  errors: {
    'invalid-request': ({ characters, messageCharacters, mostCharacters }) =>
      characters
        ? `Die Unterhaltung hat ${characters} Zeichen, davon ${messageCharacters} in einer Nachricht. Möglich sind ${mostCharacters}. Kürzen Sie diese Nachricht.`
        : 'Diese Anfrage ist so nicht möglich.',
    'context-overflow': ({ promptTokens, contextLength }) =>
      promptTokens && contextLength
        ? `Die Unterhaltung hat ${promptTokens} Tokens, das Modell hat aber nur Platz für ${contextLength}.`
        : 'Die Unterhaltung ist zu lang für dieses Modell.',
    'model-fetch': fetchFailed,
    'model-file': ({ file, message }) => {
      if (!file) return 'Die Modelldatei ist beschädigt oder unvollständig.';
      if (isTruncated(message)) return `„${file}“ ist unvollständig. Laden Sie die Datei noch einmal herunter.`;
      const models = modelsIn(message);
      if (models) return `„${file}“ enthält ${models} Modelle. Wählen Sie eines davon.`;
      if (lacksQuantization(message)) return `„${file}“ hat diese Quantisierung nicht. Nennen Sie eine andere.`;
      return `„${file}“ ist kein Modell, beschädigt oder unvollständig.`;
    },
    'unsupported-model': () => 'Modelle dieser Art laufen in Vivace nicht.',
    tokenizer: () => 'Der Tokenizer dieses Modells ist nicht lesbar.',
    'chat-template': () => 'Die Chat-Vorlage dieses Modells kommt mit dieser Unterhaltung nicht zurecht.',
    constraint: () => 'Diese Vorgabe für die Antwort lässt sich nicht einhalten.',
    'not-finite': () => 'Das Modell hat keine brauchbaren Zahlen berechnet. Seine Datei könnte beschädigt sein.',
    'attention-unavailable': () => 'Die gewählte Attention läuft hier nicht.',
    'webgpu-unavailable': () =>
      globalThis.isSecureContext === false
        ? 'WebGPU braucht https oder localhost.'
        : 'WebGPU ist hier nicht verfügbar. Nutzen Sie einen aktuellen Browser mit Hardwarebeschleunigung.',
    'gpu-memory': (facts) => tooMuch('Der Speicher der GPU', facts),
    memory: (facts) => tooMuch('Der Arbeitsspeicher', facts),
    'device-lost': () => 'Die Verbindung zur GPU ist verloren gegangen.',
    'gpu-program': () => 'Ein Programm der GPU ist fehlgeschlagen.',
    worker: () => 'Der Teil der Seite, der das Modell ausführt, ist beendet worden.',
    'tab-gone': () => 'Der Tab, in dem das Modell lief, ist nicht mehr da. Versuchen Sie es noch einmal.',
    'conversation-file': (facts) => `Das ist keine Unterhaltung, die Vivace exportiert hat.${place(facts)}`,
    'file-cut': () => 'Diese Datei ist unvollständig oder beschädigt. Exportieren oder kopieren Sie sie noch einmal.',
    'vivace-run': () =>
      'Diese Datei ist ein Lauf, keine Unterhaltung. Öffnen Sie das Panel (Zeiten) und importieren Sie sie dort unter „Läufe“.',
    'vivace-conversations': () =>
      'Diese Datei enthält Unterhaltungen, keinen Lauf. Importieren Sie sie in deren Liste.',
    'conversation-version': () => 'Diese Datei kommt von einer neueren Version. Laden Sie die Seite neu.',
    'conversation-size': ({ requestedBytes, grantedBytes }) =>
      `Diese Datei ist zu groß${requestedBytes && grantedBytes ? `: Sie hat ${requestedBytes}, möglich sind ${grantedBytes}` : ''}. Exportieren Sie weniger Unterhaltungen auf einmal.`,
    'conversation-deleted': () =>
      'Ein anderer Tab hat diese Unterhaltung gelöscht. Sie bleibt gelöscht, außer Sie machen das dort rückgängig oder fragen hier weiter.',
    'conversation-too-large': () =>
      'Diese Unterhaltung ist zu lang und wird nicht mehr gespeichert. Beginnen Sie eine neue.',
    'conversations-full': () =>
      'Der Browser hat keinen Platz mehr für Unterhaltungen. Exportieren und löschen Sie einige; der neueste Text bleibt, solange die Seite offen ist.',
    'conversations-refused': () =>
      'Der Browser speichert den neuesten Text nicht. Vivace versucht es alle paar Sekunden; exportieren Sie die Unterhaltung, bevor Sie die Seite schließen.',
    'run-file': () => 'Das ist kein Lauf, den Vivace exportiert hat.',
    'server-unreachable': ({ host = 'Der Server' }) =>
      `Von ${host} kam keine Antwort an. Prüfen Sie, ob er läuft, ob die Adresse stimmt und ob er Seiten von hier zulässt (CORS).`,
    'server-key': (facts) => `Der Server verlangt einen anderen Schlüssel${withStatus(facts)}. Prüfen Sie ihn.`,
    'server-busy': (facts) =>
      `Der Server ist überlastet oder noch nicht bereit${withStatus(facts)}. Versuchen Sie es später.`,
    'server-failed': (facts) => `Auf dem Server ist ein Fehler aufgetreten${withStatus(facts)}.`,
    'server-answer': () =>
      'Die Antwort dieses Servers ist nicht lesbar. Prüfen Sie die Adresse; die meisten enden mit /v1.',
    'server-model': () => 'Der Server hat dieses Modell nicht.',
    'server-silent': ({ seconds }) =>
      `Der Server hat ${seconds ? `${seconds} Sekunden lang ` : ''}nichts gesendet. Versuchen Sie es noch einmal.`,
    'server-cut': () => 'Die Antwort des Servers brach ab. Versuchen Sie es noch einmal.',
  },
  warnings: {
    'server-clear': () =>
      'Schlüssel und Unterhaltung gehen unverschlüsselt zu diesem Server. Nutzen Sie eine Adresse mit https:.',
    'server-option': () => 'Manche Einstellungen kennt dieser Server nicht; sie werden weggelassen.',
    'server-no-call': () =>
      'Der Server hat kein Werkzeug aufgerufen, obwohl ein Aufruf verlangt war. Fragen Sie noch einmal.',
    'address-value': ({ name = '', value = '' }) =>
      `Die Adresse verlangt ${name}=${value}. Diesen Wert gibt es nicht; der übliche gilt.`,
    'address-model': ({ value = '' }) =>
      `Die Adresse verlangt model=${value}. Das ist keine Adresse im Web; stattdessen wird Storyteller geladen.`,
    'chats-not-kept': () =>
      'Der Speicher reichte nicht: Nur der neueste Chat bleibt im Speicher; zu einem anderen zurückzukehren dauert länger.',
    'context-shortened': ({ contextLength, asked }) =>
      contextLength && asked
        ? `Der Kontext hat ${contextLength} statt ${asked} Tokens.`
        : 'Der Kontext wurde verkürzt, damit der Speicher reicht.',
    'fetched-again': () => 'Ein Teil dieses Modells war beschädigt und wurde neu geladen.',
    'sha256-unverified': () =>
      'Die Prüfsumme der Modelldatei wurde nicht geprüft, weil nicht alle ihre Bytes nötig sind.',
    'attention-fallback': () => 'Nicht jeder Attention-Kernel läuft hier richtig. Ein anderer ersetzt ihn.',
    'attention-drifted': () => 'Ein Attention-Kernel rechnet seit dem Laden falsch. Ein anderer ersetzt ihn.',
    'race-failed': () =>
      'Beim Laden ließ sich nicht messen, mit welcher Rechenart diese GPU schneller ist. Verwendet wird q8; beim nächsten Laden wird neu gemessen.',
    'step-gave-up': () => 'Der verschmolzene Schritt kam nicht voran. Das Modell rechnet jetzt in einzelnen Schritten.',
    'quantize-ignored': () => 'Die Gewichte dieses Modells sind schon quantisiert und bleiben, wie sie sind.',
    'quantization-chosen': ({ chosen, choices }) =>
      chosen && choices
        ? `Von ${choices} Quantisierungen dieses Modells wurde ${chosen} gewählt.`
        : 'Eine Quantisierung dieses Modells wurde gewählt.',
    'end-token': ({ id, vocabSize }) =>
      id && vocabSize
        ? `Die Dateien des Modells beenden Antworten mit dem Token ${id}, das Vokabular hat aber nur ${vocabSize} Tokens. Antworten enden vielleicht nicht von selbst.`
        : 'Die Dateien des Modells beenden Antworten mit einem Token, das es nicht gibt.',
    constraint: () => 'Die Vorgabe für die Antwort wird in Teilen anders eingehalten als verlangt.',
    'cache-full': ({ requestedBytes, keptBytes }) =>
      `Der Speicher des Browsers ist voll${requestedBytes && keptBytes ? `: Von ${requestedBytes} des Modells sind ${keptBytes} gespeichert` : ''}. Das Modell läuft; was fehlt, wird beim nächsten Mal neu heruntergeladen.`,
    'storage-hangs': () =>
      'Der Speicher des Browsers antwortet nicht. Schließen Sie andere Tabs dieser Seite, oder starten Sie den Browser neu.',
    'storage-refused': () =>
      'Der Browser speichert das Modell nicht. Es läuft, wird aber beim nächsten Mal neu heruntergeladen.',
    'webgpu-unavailable': () =>
      globalThis.isSecureContext === false
        ? 'WebGPU braucht https oder localhost: Das Modell läuft auf der CPU und ist langsamer.'
        : 'Keine GPU verfügbar: Das Modell läuft auf der CPU und ist langsamer. Schalten Sie für volles Tempo die Hardwarebeschleunigung des Browsers ein.',
    'gpu-memory': () => `Der Speicher der GPU war voll. ${RELOADED}`,
    'device-lost': () => `Die Verbindung zur GPU ging verloren. ${RELOADED}`,
    'gpu-program': () => `Ein Programm der GPU ist fehlgeschlagen. ${RELOADED}`,
    worker: () => `Der Teil der Seite, der das Modell ausführt, wurde beendet. ${RELOADED}`,
  },
};
