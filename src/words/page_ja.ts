// The texts of the page alone in Japanese.

import { catalogue } from './catalogue_ja';
import type { PageWords } from './page_en';

export const page: PageWords = {
  catalogue,
  theme: {
    auto: 'テーマ: システムに合わせる',
    light: 'テーマ: ライト',
    dark: 'テーマ: ダーク',
  },
  offline: {
    newVersion: '新しいバージョンの準備ができました。ページを再読み込みすると使えます。',
  },
  library: {
    label: '会話',
    fresh: '新しい会話',
    none: '会話はまだありません。会話はこのブラウザーにのみ保存されます。',
    today: '今日',
    yesterday: '昨日',
    earlier: 'それ以前',
    rename: '名前を変更',
    export: 'JSON で書き出す',
    delete: '削除',
    renameOf: (title) => `「${title}」の名前を変更`,
    exportOf: (title) => `「${title}」を JSON で書き出す`,
    deleteOf: (title) => `「${title}」を削除`,
    title: '会話のタイトル',
    deleted: (title) => `「${title}」を削除しました。`,
    undo: '元に戻す',
    dismiss: '閉じる',
    exportAll: 'すべて書き出す',
    import: '読み込む',
    importTitle: 'Vivace が書き出した .json ファイル。ページにドロップすることもできます。',
    importLabel: '会話を読み込む',
    notKept: 'このブラウザーでは何も保存されません。会話はページを閉じるまで残ります。',
    keptAgain: '会話は再び保存されています。',
    deletedElsewhere: 'この会話は別のタブで削除されました。',
    unreadable: '会話を読み込めませんでした。ページを再読み込みしてください。',
    importing: (done, all) => `${all} 件中 ${done} 件の会話を読み込みました…`,
    imported: (n) => `${n} 件の会話を読み込みました。`,
    refused: (n, why) => `${n} 件は読み込めませんでした。${why}`,
    nothingImported: '読み込める会話がありませんでした。',
    unreadableFile: (name) => `${name} を読み込めませんでした。`,
  },
  attach: {
    button: 'テキストファイルを添付',
    remove: (name) => `${name} を削除`,
    isEmpty: (name) => `「${name}」は空です。`,
    isNoText: (name) =>
      `「${name}」はテキストファイルではありません。添付できるのは Markdown、コード、CSV、JSON などのプレーンテキストだけです。`,
    tooMany: (n) => `1 つのメッセージに添付できるファイルは ${n} 個までです。`,
    tooLarge: (name, size, most) => `「${name}」は ${size} です。1 ファイルの上限は ${most} です。`,
    allTooLarge: (name, most) =>
      `「${name}」は添付されませんでした。1 つのメッセージのファイルは合計 ${most} までです。`,
    unreadable: (name) => `「${name}」を読み込めませんでした。`,
    more: (letters) => `ほか ${letters.toLocaleString('ja')} 文字`,
    noRoom: 'この会話にはこれ以上ファイルを追加できません。新しい会話を始めて添付してください。',
  },
};
