// The texts of the page alone in English, by room. This is the source: the other languages have the same shape.

import { catalogue } from './catalogue_en';

export const page = {
  catalogue,
  theme: {
    auto: 'Theme: system',
    light: 'Theme: light',
    dark: 'Theme: dark',
  },
  offline: {
    newVersion: 'A new version is ready. Reload the page to use it.',
  },
  frame: {
    conversations: 'Conversations',
    close: 'Close',
    timing: 'Timing',
    timingTitle: 'Time between tokens',
    timingWidth: 'Width of the timing panel',
    tempo: 'Tokens per second of the newest answer, after the first token',
    otherModel: 'Choose another model',
    private: 'Runs entirely on your device. Nothing you type leaves it.',
  },
  header: {
    choose: 'Choose a model',
    loading: (name: string) => `Loading ${name}`,
    chooseOther: (name: string) => `${name}. Choose another model`,
    aModel: 'a model',
    files: 'files',
    recovering: 'reloading',
    lost: 'stopped',
    heading: 'What’s on your mind?',
    examples: [
      'Explain in three sentences why the sky is blue',
      'Write a short poem about the sea in winter',
      'Give me five names for a small bakery',
    ],
    noTemplate: 'This model has no chat template: it continues each message as text, and forgets the one before.',
  },
  address: {
    empty: 'Write the name of a repository, such as owner/name, or the address of a model.',
    tooLong: (n: number) => `This is too long for an address (${n} characters).`,
    letters: 'An address has no spaces, backslashes or invisible characters.',
    climbs: 'A path on the hub cannot climb (“..”).',
    noOwner: (owner: string) => `“${owner}” is no owner of models on the hub.`,
    neither: (text: string) =>
      `“${text}” is not a model. Enter one as owner/name (for example Qwen/Qwen3-0.6B-GGUF) or as a full https:// URL.`,
    noAddress: (text: string) => `“${text}” is not the address of a model: those begin with https:// or http://.`,
    password: 'An address with a user name or password cannot be loaded. Use one without, or open the files instead.',
    insecure: 'Models are loaded over https:// only, unless they are on this computer. Use an https address.',
    noModel: 'That Hugging Face page isn’t a model. Use the address of a model, such as huggingface.co/owner/name.',
  },
  files: {
    needed: 'A model is a .gguf file, or a folder with config.json and .safetensors files.',
    notGguf: (name: string) => `“${name}” isn’t a valid GGUF file. It may be incomplete: download it again.`,
    nothing: (needed: string) => `Nothing in there can be read. ${needed}`,
    noModel: (name: string, needed: string) => `“${name}” isn’t a model or an exported conversation. ${needed}`,
    noModels: (name: string, needed: string) =>
      `“${name}” and the other files aren’t a model or exported conversations. ${needed}`,
  },
  kept: {
    here: (size: string) => `${size} here`,
    part: (percent: number, size: string) => `${percent} % of ${size} here`,
    usedToday: 'last used today',
    used: (when: string) => `last used ${when}`,
    models: (n: number, size: string) => `${n === 1 ? 'One model' : `${n} models`}, ${size}.`,
    quota: (models: string, quota: string, used: string) =>
      `${models} This browser allows this site ${quota}; it uses ${used}.`,
  },
  library: {
    label: 'Conversations',
    fresh: 'New conversation',
    none: 'No conversations yet. They’re saved only in this browser.',
    today: 'Today',
    yesterday: 'Yesterday',
    earlier: 'Earlier',
    rename: 'Rename',
    export: 'Export as JSON',
    delete: 'Delete',
    renameOf: (title: string) => `Rename “${title}”`,
    exportOf: (title: string) => `Export as JSON “${title}”`,
    deleteOf: (title: string) => `Delete “${title}”`,
    title: 'Title of the conversation',
    deleted: (title: string) => `Deleted “${title}”.`,
    undo: 'Undo',
    dismiss: 'Dismiss',
    exportAll: 'Export all',
    import: 'Import',
    importTitle: 'A .json file that Vivace exported. You can also drop it anywhere on the page.',
    importLabel: 'Import conversations',
    notKept: 'This browser doesn’t save anything here. Conversations last until you close the page.',
    keptAgain: 'Conversations are saved again.',
    deletedElsewhere: 'This conversation was deleted in another tab.',
    unreadable: 'Couldn’t read your conversations. Reload the page.',
    importing: (done: number, all: number) => `Importing: ${done} of ${all} conversations.`,
    imported: (n: number) => (n === 1 ? '1 conversation imported.' : `${n} conversations imported.`),
    refused: (n: number, why: string) => `${n} ${n === 1 ? 'was' : 'were'} refused. ${why}`,
    nothingImported: 'No conversations imported.',
    unreadableFile: (name: string) => `Couldn’t read ${name}.`,
  },
  attach: {
    button: 'Attach text files',
    remove: (name: string) => `Remove ${name}`,
    isEmpty: (name: string) => `“${name}” is empty.`,
    isNoText: (name: string) =>
      `“${name}” is not a text file. Only plain text can be attached, such as Markdown, code, CSV or JSON.`,
    tooMany: (n: number) => `A message takes ${n} files at most.`,
    tooLarge: (name: string, size: string, most: string) => `“${name}” has ${size}; ${most} is the most for one file.`,
    allTooLarge: (name: string, most: string) =>
      `“${name}” was left out: the files of one message may have ${most} together.`,
    unreadable: (name: string) => `“${name}” could not be read.`,
    more: (letters: number) => `${letters.toLocaleString('en')} more characters`,
    noRoom: 'This conversation has no room for more files. Begin a new one, and attach them there.',
  },
};

export type PageWords = typeof page;
