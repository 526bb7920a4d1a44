// The texts of the chat in Japanese.

import type { ChatWords } from './chat_en';

export const chat: ChatWords = {
  embed: {
    close: '閉じる',
    panel: '計測',
    panelComes: 'パネルを読み込んでいます。',
    noPanel: (address) => `パネルを ${address} から読み込めませんでした。チャットはそのまま使えます。`,
    waiting: 'モデルはこのページの別のチャットで回答中です。その後にこの回答が始まります。',
  },
  editor: {
    label: 'メッセージを編集',
    cancel: 'キャンセル',
    cancelTitle: 'キャンセル (Escape)',
    send: '保存して送信',
    sendTitle: '保存して送信 (Enter)',
  },
  turn: {
    goOn: '続ける',
    limit: '上限を変更',
    again: '再生成',
  },
  pager: {
    question: 'このメッセージのバージョン',
    answer: 'この回答のバージョン',
    before: '前のバージョン',
    after: '次のバージョン',
    version: (n, all) => `バージョン ${n}/${all}`,
  },
};
