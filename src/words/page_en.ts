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
