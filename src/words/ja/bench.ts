// The texts of the card of a named measurement in Japanese.

import type { BenchWords } from '../en/bench';

export const bench: BenchWords = {
  title: (name) => `測定「${name}」`,
  close: '閉じる',
  what: ({ promptTokens, tokens, times }) =>
    `プロンプト ${promptTokens} トークンの後に ${tokens} トークンを ${times} 回、毎回空のキャッシュで生成します。`,
  run: '実行',
  again: 'もう一度実行',
  asks: (onGpu) => `しばらく${onGpu ? ' GPU ' : 'プロセッサ'}を使用します。どこにも送信されません。`,
  loading: 'モデルの読み込みを待っています…',
  range: '中央値と全実行の範囲。',
  tooLong: (needs, has) =>
    `この測定には ${needs} トークンのコンテキストが必要ですが、モデルは ${has} で読み込まれています。`,
  copyLink: 'リンクをコピー',
  copyText: 'テキストとしてコピー',
  save: 'JSON をダウンロード',
  copied: 'コピーしました。',
  notCopied: 'ブラウザーがコピーを許可しませんでした。',
  done: '測定が完了しました。',
  unknown: 'この名前の測定はありません。次の測定があります：',
};
