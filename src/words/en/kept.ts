// What the script tag says of the conversation that it keeps, in English. This is the source.

export const kept = {
  kept: (days: number) => `Saved in this browser for ${days} days.`,
  delete: 'Delete',
  deleted: 'Conversation deleted.',
  undo: 'Undo',
  tooLong: 'This conversation is too long to save. Start a new one.',
  refused: 'This browser can’t save or delete conversations right now.',
};

export type KeptWords = typeof kept;
