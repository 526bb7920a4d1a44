// Errors and warnings in Japanese, by code.

import { type ErrorWords, type Facts, isTruncated, lacksQuantization, modelsIn } from '../en/errors';

const fetchFailed = ({ host, status }: Facts): string => {
  if (!host) return 'そこにモデルがないか、一部が足りません。';
  if (status === undefined) return `${host} に接続できません。接続とアドレスを確認してください。`;
  if (status === '206') return `${host} はモデルの一部か、別のものを送ってきました。アドレスを確認してください。`;
  if (/^[23]/.test(status)) return 'このアドレスにモデルはありません。';
  if (/^4(04|10)$/.test(status)) return `${host} にこのモデルはありません。アドレスを確認してください。`;
  if (/^40[13]$/.test(status))
    return `${host} がこのモデルへのアクセスを拒否しました。非公開か、利用に承認が必要なモデルかもしれません。`;
  return `${host} がエラー ${status} を返しました。`;
};

const tooMuch = (what: string, { requestedBytes, grantedBytes }: Facts): string => {
  if (!requestedBytes) return `${what}が足りません。`;
  const most = grantedBytes ? `が、使えるのは ${grantedBytes} までです` : '';
  return `${what}が足りません。${requestedBytes} が必要です${most}。`;
};

/** The place of an error in a file. */
const place = ({ conversation, turn }: Facts): string => {
  const parts = [conversation && `会話 ${conversation}`, turn && `やり取り ${turn}`].filter(Boolean);
  return parts.length > 0 ? `${parts.join('、')} に問題があります。` : '';
};

/** The status of a server's answer. */
const withStatus = ({ status }: Facts): string => (status ? `（ステータス ${status}）` : '');

const RELOADED = 'モデルを再読み込みしました。';

export const errors: ErrorWords = {
  errors: {
    'invalid-request': ({ characters, messageCharacters, mostCharacters }) =>
      characters
        ? `会話は ${characters} 文字あり、そのうち ${messageCharacters} 文字が 1 つのメッセージにあります。一度に読めるのは ${mostCharacters} 文字までです。このメッセージを短くしてください。`
        : 'このリクエストは実行できません。',
    'context-overflow': ({ promptTokens, contextLength }) =>
      promptTokens && contextLength
        ? `会話は ${promptTokens} トークンありますが、モデルが扱えるのは ${contextLength} トークンまでです。`
        : '会話がこのモデルには長すぎます。',
    'model-fetch': fetchFailed,
    'model-file': ({ file, message }) => {
      if (!file) return 'モデルのファイルが破損しているか、不完全です。';
      if (isTruncated(message)) return `「${file}」は不完全です。もう一度ダウンロードしてください。`;
      const models = modelsIn(message);
      if (models) return `「${file}」には ${models} 個のモデルがあります。その中から 1 つを選んでください。`;
      if (lacksQuantization(message)) return `この量子化は「${file}」にありません。別のものを指定してください。`;
      return `「${file}」はモデルではないか、破損しているか、不完全です。`;
    },
    'unsupported-model': () => 'この種類のモデルは Vivace では動作しません。',
    tokenizer: () => 'このモデルのトークナイザーを読み取れません。',
    'chat-template': () => 'このモデルのチャットテンプレートはこの会話を処理できません。',
    constraint: () => '回答に対するこの指定は守れません。',
    'not-finite': () => 'モデルが有効な数値を計算できませんでした。ファイルが破損している可能性があります。',
    'attention-unavailable': () => '選択された Attention はここでは動作しません。',
    'webgpu-unavailable': () =>
      globalThis.isSecureContext === false
        ? 'WebGPU には https または localhost が必要です。'
        : 'WebGPU を使用できません。ハードウェアアクセラレーションが有効な最新のブラウザーを使用してください。',
    'gpu-memory': (facts) => tooMuch('GPU のメモリ', facts),
    memory: (facts) => tooMuch('メモリ', facts),
    'device-lost': () => 'GPU との接続が失われました。',
    'gpu-program': () => 'GPU のプログラムが失敗しました。',
    worker: () => 'モデルを実行していた処理が終了しました。',
    'tab-gone': () => 'モデルを実行していたタブがなくなりました。もう一度お試しください。',
    'conversation-file': (facts) => `これは Vivace が書き出した会話ではありません。${place(facts)}`,
    'file-cut': () => 'このファイルは途中で切れているか、壊れています。もう一度書き出すか、コピーし直してください。',
    'vivace-run': () =>
      'これは会話ではなく、計測の実行です。パネル (計測) を開き、「実行の一覧」でインポートしてください。',
    'vivace-conversations': () =>
      'このファイルの中身は会話で、計測の実行ではありません。会話の一覧で読み込んでください。',
    'conversation-version': () => 'このファイルは新しいバージョンのものです。ページを再読み込みしてください。',
    'conversation-size': ({ requestedBytes, grantedBytes }) =>
      `ファイルが大きすぎます${requestedBytes && grantedBytes ? `(${requestedBytes}、上限は ${grantedBytes})` : ''}。一度に書き出す会話を減らしてください。`,
    'conversation-deleted': () =>
      'この会話は別のタブで削除されました。そのタブで元に戻すか、ここで新しく質問しない限り、削除されたままです。',
    'conversation-too-large': () => 'この会話は長すぎるため、これ以上保存できません。新しい会話を始めてください。',
    'conversations-full': () =>
      'ブラウザーに会話を保存する空きがありません。いくつか書き出してから削除してください。最新の文章はページを開いている間だけ残ります。',
    'conversations-refused': () =>
      'ブラウザーが最新の文章を保存していません。数秒ごとに再試行します。ページを閉じる前に会話を書き出してください。',
    'run-file': () => 'これは Vivace が書き出した計測ではありません。',
    'server-unreachable': ({ host = 'サーバー' }) =>
      `${host} から応答が届きません。動作しているか、アドレスが正しいか、このページを許可しているか（CORS）を確認してください。`,
    'server-key': (facts) => `サーバーは別のキーを求めています${withStatus(facts)}。キーを確認してください。`,
    'server-busy': (facts) => `サーバーが混雑しているか、準備中です${withStatus(facts)}。後でもう一度お試しください。`,
    'server-failed': (facts) => `サーバーでエラーが発生しました${withStatus(facts)}。`,
    'server-answer': () => 'このサーバーの応答は読み取れません。アドレスを確認してください。多くは /v1 で終わります。',
    'server-model': () => 'サーバーにこのモデルはありません。',
    'server-silent': ({ seconds }) =>
      `サーバーから${seconds ? ` ${seconds} 秒間` : ''}何も届きませんでした。もう一度お試しください。`,
    'server-cut': () => 'サーバーの応答が途中で切れました。もう一度お試しください。',
  },
  warnings: {
    'server-clear': () => 'キーと会話は暗号化されずにこのサーバーへ送られます。https: のアドレスを使ってください。',
    'server-option': () => 'このサーバーにない設定は省かれます。',
    'server-no-call': () => 'ツールの呼び出しが必須でしたが、サーバーは呼び出しませんでした。もう一度お試しください。',
    'address-value': ({ name = '', value = '' }) =>
      `アドレスに ${name}=${value} とありますが、この値は使えません。通常の値を使用します。`,
    'address-model': ({ value = '' }) =>
      `アドレスに model=${value} とありますが、Web アドレスではありません。代わりに Storyteller を読み込みます。`,
    'chats-not-kept': () =>
      'メモリが足りなくなりました。メモリに残すのは最新のチャットだけで、ほかのチャットに戻るときは時間がかかります。',
    'context-shortened': ({ contextLength, asked }) =>
      contextLength && asked
        ? `コンテキストは ${asked} トークンではなく ${contextLength} トークンです。`
        : 'メモリに収まるようにコンテキストを短くしました。',
    'fetched-again': () => 'モデルの一部が破損していたため、もう一度ダウンロードしました。',
    'sha256-unverified': () => 'ファイルのすべては必要ないため、モデルのチェックサムは確認していません。',
    'attention-fallback': () => 'ここでは正しく動作しない Attention カーネルがあります。別のものを使用します。',
    'attention-drifted': () => '読み込み後に Attention カーネルの計算が正しくなくなりました。別のものを使用します。',
    'race-failed': () =>
      'この GPU でどちらの計算方式が速いかを測定できませんでした。q8 を使い、次の読み込みでもう一度測定します。',
    'step-gave-up': () => '融合ステップが進まなくなりました。以後は個別のステップで計算します。',
    'quantize-ignored': () => 'このモデルの重みはすでに量子化されているため、そのまま使用します。',
    'quantization-chosen': ({ chosen, choices }) =>
      chosen && choices
        ? `このモデルの ${choices} 種類の量子化から ${chosen} を選びました。`
        : 'このモデルの量子化を選びました。',
    'end-token': ({ id, vocabSize }) =>
      id && vocabSize
        ? `モデルのファイルは回答の終わりを ID ${id} のトークンとしていますが、語彙は ${vocabSize} 個です。回答が自動では終わらないことがあります。`
        : 'モデルのファイルは回答の終わりを、存在しないトークンとしています。',
    constraint: () => '回答に対する指定の一部は、求められた形とは異なる形で守られます。',
    'cache-full': ({ requestedBytes, keptBytes }) =>
      `ブラウザーの保存領域がいっぱいです${requestedBytes && keptBytes ? `(モデル ${requestedBytes} のうち ${keptBytes} を保存)` : ''}。モデルは動作しますが、不足分は次回もう一度ダウンロードします。`,
    'storage-hangs': () =>
      'ブラウザーの保存領域が応答しません。このサイトの他のタブを閉じるか、ブラウザーを再起動してください。',
    'storage-refused': () => 'ブラウザーがモデルを保存しません。動作はしますが、次回もう一度ダウンロードします。',
    'webgpu-unavailable': () =>
      globalThis.isSecureContext === false
        ? 'WebGPU には https または localhost が必要なため、CPU で低速に実行しています。'
        : 'GPU を使用できないため、CPU で低速に実行しています。本来の速度で使うには、ブラウザーのハードウェアアクセラレーションを有効にしてください。',
    'gpu-memory': () => `GPU のメモリが不足しました。${RELOADED}`,
    'device-lost': () => `GPU との接続が失われました。${RELOADED}`,
    'gpu-program': () => `GPU のプログラムが失敗しました。${RELOADED}`,
    worker: () => `モデルを実行していた処理が終了しました。${RELOADED}`,
  },
};
