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
  drop: {
    hint: 'テキストファイル、モデル、エクスポートした会話をここにドロップしてください。',
  },
  offline: {
    newVersion: '新しいバージョンの準備ができました。ページを再読み込みすると使えます。',
  },
  frame: {
    conversations: '会話',
    close: '閉じる',
    timing: '計測',
    timingTitle: 'トークン間の時間',
    timingWidth: '計測パネルの幅',
    tempo: '最新の回答の 1 秒あたりのトークン数 (最初のトークン以降)',
    otherModel: '別のモデルを選ぶ',
    private: 'すべてお使いの端末上で動きます。入力した内容が外部に送られることはありません。',
  },
  header: {
    choose: 'モデルを選ぶ',
    loading: (name) => `${name} を読み込んでいます`,
    chooseOther: (name) => `${name}。別のモデルを選ぶ`,
    aModel: 'モデル',
    files: 'ファイル',
    recovering: '再読み込み中',
    lost: '停止',
    noTemplate:
      'このモデルにはチャット用テンプレートがありません。メッセージごとに文章の続きを書き、前のメッセージは忘れます。',
  },
  address: {
    empty: 'owner/name のようなリポジトリ名か、モデルのアドレスを入力してください。',
    tooLong: (n) => `アドレスとしては長すぎます (${n} 文字)。`,
    letters: 'アドレスに空白、バックスラッシュ、見えない文字は使えません。',
    climbs: 'ハブのパスで上の階層 (「..」) には移動できません。',
    noOwner: (owner) => `「${owner}」はハブ上のモデルの所有者ではありません。`,
    neither: (text) =>
      `「${text}」はモデルではありません。owner/name (例: Qwen/Qwen3-0.6B-GGUF) か、https:// で始まる URL を入力してください。`,
    noAddress: (text) => `「${text}」はモデルのアドレスではありません。アドレスは https:// か http:// で始まります。`,
    password:
      'ユーザー名やパスワードを含むアドレスは読み込めません。含まないアドレスを使うか、ファイルを開いてください。',
    insecure:
      'このコンピューター上のもの以外、モデルは https:// でのみ読み込みます。https のアドレスを使ってください。',
    noModel:
      'この Hugging Face のページはモデルではありません。huggingface.co/owner/name のようなアドレスを使ってください。',
  },
  files: {
    needed: 'モデルは .gguf ファイル、または config.json と .safetensors ファイルを含むフォルダーです。',
    notGguf: (name) =>
      `「${name}」は有効な GGUF ファイルではありません。不完全かもしれません。もう一度ダウンロードしてください。`,
    nothing: (needed) => `読み取れるものがありません。${needed}`,
    noModel: (name, needed) => `「${name}」はモデルでも書き出した会話でもありません。${needed}`,
    noModels: (name, needed) => `「${name}」などのファイルは、モデルでも書き出した会話でもありません。${needed}`,
  },
  models: {
    title: 'モデル',
    close: '閉じる',
    address: 'Hugging Face のリポジトリまたはアドレス',
    addressHelp:
      'owner/name、owner/name@revision、owner/name:Q4_K_M、owner/name/file.gguf、または .gguf ファイルかフォルダーの https アドレス。',
    load: '読み込む',
    loadOf: (name) => `${name} を読み込む`,
    files: 'このコンピューターのファイル',
    openFiles: 'ファイルを開く…',
    openFolder: 'フォルダーを開く…',
    filesHelp:
      '.gguf ファイル、または config.json と safetensors を含むフォルダー。ページのどこにでもドロップできます。ファイルは元の場所に残ります。',
    kept: 'このブラウザーに保存済み',
    noneKept:
      'まだありません。アドレスから読み込んだモデルは、ブラウザーが許可すればここに保存され、次からはネットワークなしで読み込めます。',
    update: '更新',
    updateOf: (name) => `${name} を更新`,
    updateHelp: '新しいバージョンがあるか確認し、読み込みます',
    running: '実行中',
  },
  kept: {
    here: (size) => `${size} 保存済み`,
    part: (percent, size) => `${size} のうち ${percent} % 保存済み`,
    usedToday: '今日使用',
    used: (when) => `最終使用: ${when}`,
    models: (n, size) => `${n} 個のモデル、${size}。`,
    quota: (models, quota, used) => `${models}このブラウザーがこのサイトに許す容量は ${quota}、使用中は ${used} です。`,
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
    unknown: 'その会話はこのブラウザーにありません。削除されたか、別の端末に保存されている可能性があります。',
    actions: 'その他',
    actionsOf: (title) => `「${title}」のその他の操作`,
    exportMarkdown: 'Markdownで書き出す',
    copyMarkdown: 'Markdownでコピー',
    copied: (title) => `「${title}」をMarkdownでコピーしました。`,
    notCopied: 'ブラウザーがコピーを許可しませんでした。代わりにMarkdownで書き出してください。',
    deleteAll: 'すべて削除',
    deletedAll: (n) => `${n}件の会話を削除しました。`,
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
  search: {
    label: '会話を検索',
    placeholder: '検索',
    clear: '検索をクリア',
    none: 'すべての語を含む会話はありません。',
    most: (n) => `新しい順に${n}件の会話です。語を追加して絞り込めます。`,
    found: (n) => `${n}件の会話`,
    searching: (done, all) => `検索中… ${done.toLocaleString('ja')}/${all.toLocaleString('ja')}`,
  },
  markdown: {
    system: 'システムプロンプト',
    question: 'あなた',
    answer: 'アシスタント',
    answerBy: (model) => `アシスタント（${model}）`,
  },
};
