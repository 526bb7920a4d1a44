// The texts of the page alone in German.

import type { PageWords } from '../en/page';
import { catalogue } from './catalogue';

export const page: PageWords = {
  catalogue,
  theme: {
    auto: 'Design: wie das System',
    light: 'Design: hell',
    dark: 'Design: dunkel',
  },
  drop: {
    hint: 'Legen Sie hier Textdateien, ein Modell oder exportierte Unterhaltungen ab.',
  },
  answerForm: {
    title: 'Antworten',
    help: 'Welche Form Antworten haben. JSON ist nie fehlerhaft, und Programme können es lesen.',
    kinds: { text: 'Text', json: 'JSON', schema: 'JSON nach einem Schema' },
    schema: 'JSON-Schema',
    noJson: 'Das Schema ist noch kein JSON.',
    problem: (why) => `${why} Bis das behoben ist, sind Antworten beliebiges JSON.`,
  },
  json: {
    entries: (n) => (n === 1 ? '1 Eintrag' : `${n.toLocaleString('de')} Einträge`),
    items: (n) => (n === 1 ? '1 Element' : `${n.toLocaleString('de')} Elemente`),
    more: (n) => `${n.toLocaleString('de')} weitere`,
  },
  offline: {
    newVersion: 'Eine neue Version ist bereit. Laden Sie die Seite neu, um sie zu verwenden.',
  },
  frame: {
    conversations: 'Unterhaltungen',
    close: 'Schließen',
    timing: 'Zeiten',
    timingTitle: 'Zeit zwischen Tokens',
    timingWidth: 'Breite des Zeiten-Panels',
    tempo: 'Tokens pro Sekunde der neuesten Antwort, nach dem ersten Token',
    otherModel: 'Anderes Modell wählen',
    private: 'Läuft ganz auf Ihrem Gerät. Nichts, was Sie schreiben, verlässt es.',
    missing:
      'Ein Teil dieser Seite ließ sich nicht laden. Prüfen Sie die Verbindung, und versuchen Sie es noch einmal.',
  },
  header: {
    choose: 'Modell wählen',
    loading: (name) => `${name} wird geladen`,
    chooseOther: (name) => `${name}. Anderes Modell wählen`,
    aModel: 'ein Modell',
    files: 'Dateien',
    recovering: 'lädt neu',
    lost: 'angehalten',
    noTemplate: 'Dieses Modell hat keine Chat-Vorlage: Es setzt jede Nachricht als Text fort und vergisst die vorige.',
  },
  address: {
    empty: 'Geben Sie den Namen eines Repositorys ein, etwa owner/name, oder die Adresse eines Modells.',
    tooLong: (n) => `Das ist zu lang für eine Adresse (${n} Zeichen).`,
    letters: 'Eine Adresse hat keine Leerzeichen, Backslashes oder unsichtbaren Zeichen.',
    climbs: 'Ein Pfad im Hub kann nicht aufwärts führen („..“).',
    noOwner: (owner) => `„${owner}“ ist kein Besitzer von Modellen im Hub.`,
    neither: (text) =>
      `„${text}“ ist kein Modell. Geben Sie es als owner/name ein (etwa Qwen/Qwen3-0.6B-GGUF) oder als volle https://-Adresse.`,
    noAddress: (text) => `„${text}“ ist keine Adresse eines Modells: Diese beginnen mit https:// oder http://.`,
    password:
      'Eine Adresse mit Benutzername oder Passwort kann nicht geladen werden. Verwenden Sie eine ohne, oder öffnen Sie die Dateien.',
    insecure: 'Modelle werden nur über https:// geladen, außer von diesem Computer. Verwenden Sie eine https-Adresse.',
    noModel:
      'Diese Seite von Hugging Face ist kein Modell. Verwenden Sie die Adresse eines Modells, etwa huggingface.co/owner/name.',
  },
  files: {
    needed: 'Ein Modell ist eine .gguf-Datei oder ein Ordner mit config.json und .safetensors-Dateien.',
    notGguf: (name) =>
      `„${name}“ ist keine gültige GGUF-Datei. Vielleicht ist sie unvollständig: Laden Sie sie erneut herunter.`,
    nothing: (needed) => `Darin ist nichts lesbar. ${needed}`,
    unknown: (name, needed) =>
      `„${name}“ ist weder eine Textdatei noch ein Modell oder eine exportierte Unterhaltung. ${needed}`,
    noModel: (name, needed) => `„${name}“ ist weder ein Modell noch eine exportierte Unterhaltung. ${needed}`,
    noModels: (name, needed) =>
      `„${name}“ und die anderen Dateien sind weder ein Modell noch exportierte Unterhaltungen. ${needed}`,
    tooMany: (files, most, needed) =>
      `Das sind ${files} Dateien, und eine Nachricht nimmt höchstens ${most} auf. Wählen Sie bis zu ${most} Textdateien oder ein Modell. ${needed}`,
  },
  models: {
    server: 'Server',
    serverHelp:
      'Ein Server mit der Schnittstelle von OpenAI, etwa vLLM, SGLang oder llama.cpp, kann anstelle dieser Seite antworten. Was Sie schreiben, geht dann dorthin.',
    useServer: 'Server verwenden …',
    title: 'Modelle',
    close: 'Schließen',
    address: 'Ein Repository von Hugging Face oder eine Adresse',
    addressHelp:
      'owner/name, owner/name@revision, owner/name:Q4_K_M, owner/name/file.gguf oder jede https-Adresse einer .gguf-Datei oder eines Ordners.',
    load: 'Laden',
    loadOf: (name) => `${name} laden`,
    files: 'Dateien auf diesem Gerät',
    openFiles: 'Dateien öffnen …',
    openFolder: 'Ordner öffnen …',
    filesHelp:
      'Eine .gguf-Datei oder ein Ordner mit config.json und safetensors. Beides können Sie auch irgendwo auf die Seite ziehen. Die Dateien bleiben, wo sie sind.',
    kept: 'In diesem Browser gespeichert',
    noneKept:
      'Noch nichts. Ein Modell, das von einer Adresse geladen wird, bleibt hier gespeichert, sofern der Browser es erlaubt, und lädt dann ohne Netz.',
    update: 'Aktualisieren',
    updateOf: (name) => `${name} aktualisieren`,
    updateHelp: 'Fragt nach einer neuen Version und lädt sie',
    running: 'läuft',
  },
  kept: {
    prompts: (size) => `Prompts, die nach einem Neuladen nicht neu gelesen werden müssen: ${size}.`,
    deletePrompts: 'Prompts löschen',
    deletedPrompts: 'Prompts gelöscht.',
    here: (size) => `${size} hier`,
    part: (percent, size) => `${percent} von ${size} hier`,
    usedToday: 'heute verwendet',
    used: (when) => `zuletzt ${when} verwendet`,
    models: (n, size) => `${n === 1 ? 'Ein Modell' : `${n} Modelle`}, ${size}.`,
    quota: (models, quota, used) => `${models} Dieser Browser erlaubt dieser Website ${quota}; sie nutzt ${used}.`,
  },
  library: {
    label: 'Unterhaltungen',
    fresh: 'Neue Unterhaltung',
    none: 'Noch keine Unterhaltungen. Sie werden nur in diesem Browser gespeichert.',
    today: 'Heute',
    yesterday: 'Gestern',
    earlier: 'Früher',
    rename: 'Umbenennen',
    export: 'Als JSON exportieren',
    delete: 'Löschen',
    title: 'Titel der Unterhaltung',
    deleted: (title) => `„${title}“ gelöscht.`,
    undo: 'Rückgängig',
    dismiss: 'Schließen',
    exportAll: 'Alle exportieren',
    import: 'Importieren',
    importTitle: 'Eine .json-Datei, die Vivace exportiert hat. Sie können sie auch irgendwo auf der Seite ablegen.',
    importLabel: 'Unterhaltungen importieren',
    notKept: 'Dieser Browser speichert hier nichts. Unterhaltungen bleiben, bis Sie die Seite schließen.',
    keptAgain: 'Unterhaltungen werden wieder gespeichert.',
    deletedElsewhere: 'Diese Unterhaltung wurde in einem anderen Tab gelöscht.',
    unknown:
      'Diese Unterhaltung gibt es in diesem Browser nicht. Vielleicht wurde sie gelöscht oder auf einem anderen Gerät gespeichert.',
    actions: 'Mehr',
    actionsOf: (title) => `Mehr zu „${title}“`,
    exportMarkdown: 'Als Markdown exportieren',
    copyMarkdown: 'Als Markdown kopieren',
    copied: (title) => `„${title}“ als Markdown kopiert.`,
    notCopied: 'Der Browser hat das Kopieren nicht erlaubt. Exportieren Sie stattdessen als Markdown.',
    deleteAll: 'Alle löschen',
    deletedAll: (n) => (n === 1 ? '1 Unterhaltung gelöscht.' : `${n} Unterhaltungen gelöscht.`),
    unreadable: 'Ihre Unterhaltungen konnten nicht gelesen werden. Laden Sie die Seite neu.',
    importing: (done, all) => `${done} von ${all} Unterhaltungen importiert …`,
    imported: (n) => (n === 1 ? '1 Unterhaltung importiert.' : `${n} Unterhaltungen importiert.`),
    known: (n) => (n === 1 ? '1 Unterhaltung war schon hier.' : `${n} Unterhaltungen waren schon hier.`),
    refused: (n, why) => `${n} ${n === 1 ? 'wurde' : 'wurden'} abgelehnt. ${why}`,
    nothingImported: 'Keine Unterhaltungen importiert.',
    unreadableFile: (name) => `${name} konnte nicht gelesen werden.`,
  },
  attach: {
    button: 'Textdateien anhängen',
    pasted: 'Eingefügter Text',
    remove: (name) => `${name} entfernen`,
    isEmpty: (name) => `„${name}“ ist leer.`,
    isNoText: (name) =>
      `„${name}“ ist keine Textdatei. Nur reiner Text lässt sich anhängen, etwa Markdown, Code, CSV oder JSON.`,
    tooMany: (n) => `Eine Nachricht nimmt höchstens ${n} Dateien auf.`,
    tooLarge: (name, size, most) => `„${name}“ ist zu groß: ${size}. Eine Datei darf höchstens ${most} haben.`,
    allTooLarge: (name, most) =>
      `„${name}“ wurde weggelassen: Die Dateien einer Nachricht dürfen zusammen ${most} haben.`,
    unreadable: (name) => `„${name}“ konnte nicht gelesen werden.`,
    more: (letters) => (letters === 1 ? '1 weiteres Zeichen' : `${letters.toLocaleString('de')} weitere Zeichen`),
    noRoom:
      'Diese Unterhaltung hat keinen Platz für weitere Dateien. Beginnen Sie eine neue und hängen Sie sie dort an.',
  },
  search: {
    label: 'Unterhaltungen durchsuchen',
    placeholder: 'Suchen',
    shortcut: 'Strg K',
    clear: 'Suche leeren',
    none: 'Keine Unterhaltung enthält alle diese Wörter.',
    most: (n) => `Die neuesten ${n} Unterhaltungen. Ein weiteres Wort grenzt die Suche ein.`,
    found: (n) => (n === 1 ? '1 Unterhaltung' : `${n} Unterhaltungen`),
    searching: (done, all) => `Suche läuft … ${done.toLocaleString('de')} von ${all.toLocaleString('de')}`,
  },
  markdown: {
    system: 'Systemprompt',
    question: 'Sie',
    answer: 'Assistent',
    answerBy: (model) => `Assistent (${model})`,
  },
};
