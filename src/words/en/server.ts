// What the page and the script tag say of servers that answer, in English. This is the source.

/** The facts that explain an error of a server. */
export interface Unreached {
  host: string;
  /** The origin of the page. */
  page: string;
}

export const server = {
  title: 'Server',
  help: 'A server with OpenAI’s interface answers instead of this page, or beside it: vLLM, SGLang, llama.cpp, or one that your company runs.',
  address: 'Address',
  key: 'Key, if it wants one',
  remember: 'Remember the key on this computer',
  rememberHelp:
    'Without this the key is forgotten when the page closes. With it, it is stored in this browser, where other pages of this site can read it.',
  model: 'Model',
  firstModel: 'The first that the server lists',
  who: 'Who answers',
  rules: {
    remote: 'The server',
    loaded: 'The server, until the model of this page is loaded',
    longer: 'The server, if a conversation is long',
  },
  tokens: 'From how many tokens on',
  connect: 'Connect',
  apply: 'Apply',
  connecting: (host: string) => `Connecting to ${host}…`,
  connected: (host: string, model: string) => `Connected to ${host}. ${model} answers there.`,
  disconnect: 'Disconnect',
  cancel: 'Cancel',
  noAddress: 'Type the address of a server, such as http://localhost:8080/v1.',
  holdsSecret: 'Leave user name, password, query and fragment out of the address. A key has its own field.',
  badRule: 'Type a whole number of tokens from 0 on.',
  ask: (host: string) => `Send what you write to ${host}?`,
  asks: {
    remote: (host: string) =>
      `${host} answers instead of this page. Your messages, the conversation so far and attached texts go there, and whoever runs it can read them.`,
    loaded: (host: string) =>
      `${host} answers until the model of this page is loaded, and where that model fails. Your messages, the conversation so far and attached texts go there then, and whoever runs it can read them.`,
    longer: (host: string, tokens: string) =>
      `${host} answers conversations of more than ${tokens} tokens, and where the model of this page fails. Your messages, the conversation so far and attached texts go there then, and whoever runs it can read them.`,
  },
  inTheClear: 'The connection is not encrypted: others in the network can read along.',
  allow: 'Send it there',
  refuse: 'Don’t send anything',
  refused: (host: string) => `Nothing is sent to ${host}.`,
  refusedAll: (host: string) => `Nothing is sent to ${host}, so nothing answers here.`,
  askAgain: 'Allow it',
  line: {
    remote: (host: string) => `What you write goes to ${host}, which answers.`,
    loaded: (host: string) => `${host} answers until the model is loaded. What you write goes there.`,
    here: (host: string) => `This page answers. If its model fails, the conversation goes to ${host}.`,
    longer: (host: string, tokens: string) => `Conversations of more than ${tokens} tokens go to ${host}.`,
  },
  lead: (host: string) => `A chat with a model on ${host}. What you write goes there.`,
  withdraw: 'Send nothing more',
  withdrawHelp: (host: string) => `You allowed this page to send what you write to ${host}.`,
  failed: (host: string) => `Not connected to ${host}.`,
  next: {
    mixed: ({ host }: Unreached) =>
      `This page was loaded by https:, and browsers let it ask only servers at https: or on this computer. Give ${host} a certificate, or open the page from http://localhost.`,
    unreachable: ({ host, page }: Unreached) =>
      `Check that ${host} runs and that the address is right. If it does, it may not allow this page to read its answers (CORS): let it allow ${page} (vLLM: --allowed-origins).`,
    noKey: 'Type the key of the server.',
    wrongKey: 'Check the key, and what it may do.',
    busy: 'Wait a moment and try again.',
    notFound: 'Check the address: that of most servers ends with /v1.',
    failed: 'Try again. If it fails again, the log of the server says why.',
    wrongKind: 'Check the address: it must be that of a server with OpenAI’s interface, and mostly ends with /v1.',
    model: 'Choose one of the models of the server.',
    silent: 'The server may still be loading its model. Try again later.',
    other: 'Check the address and try again.',
  },
};

export type ServerWords = typeof server;
