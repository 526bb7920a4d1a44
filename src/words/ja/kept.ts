// What the script tag says of the conversation that it keeps, in Japanese.

import type { KeptWords } from '../en/kept';

export const kept: KeptWords = {
  kept: (days) => `このブラウザーに ${days} 日間保存されます。`,
  delete: '削除',
  deleted: '会話を削除しました。',
  undo: '元に戻す',
  tooLong: 'この会話は長すぎて保存できません。新しい会話を始めてください。',
  refused: 'このブラウザーでは現在、会話の保存や削除ができません。',
};
