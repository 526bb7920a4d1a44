// The texts of the chat in English, by room. This is the source: the other languages have the same shape.

export const chat = {
  embed: {
    close: 'Close',
    panel: 'Timing',
    panelComes: 'The panel is loading.',
    noPanel: (address: string) => `Couldn’t load the panel from ${address}. The chat works without it.`,
    waiting: 'The model is answering in another chat on this page. This answer comes next.',
  },
  editor: {
    label: 'Edit your message',
    cancel: 'Cancel',
    cancelTitle: 'Cancel (Escape)',
    send: 'Save and send',
    sendTitle: 'Save and send (Enter)',
  },
  turn: {
    goOn: 'Continue',
    limit: 'Change limit',
    again: 'Regenerate',
  },
  pager: {
    question: 'Versions of this message',
    answer: 'Versions of this answer',
    before: 'Previous version',
    after: 'Next version',
    version: (n: number, all: number) => `Version ${n} of ${all}`,
  },
};

export type ChatWords = typeof chat;
