// The texts of the chat in Japanese.

import type { ChatWords } from './chat_en';

export const chat: ChatWords = {
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
