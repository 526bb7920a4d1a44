// What the page and the script tag say of servers that answer, in Japanese.

import type { ServerWords } from '../en/server';

export const server: ServerWords = {
  title: 'サーバー',
  help: 'OpenAI のインターフェースを持つサーバーが、このページの代わりに、またはこのページとともに回答します。vLLM、SGLang、llama.cpp、社内のサーバーなどです。',
  address: 'アドレス',
  key: 'キー (必要な場合)',
  remember: 'このコンピューターにキーを保存する',
  rememberHelp:
    '保存しない場合、ページを閉じるとキーは消えます。保存するとこのブラウザーに残り、同じサイトのほかのページからも読めます。',
  model: 'モデル',
  firstModel: 'サーバーの一覧の最初のモデル',
  who: '回答するもの',
  rules: {
    remote: 'サーバー',
    loaded: 'このページのモデルが読み込まれるまでサーバー',
    longer: '会話が長いときはサーバー',
  },
  tokens: 'サーバーに送るトークン数の下限',
  connect: '接続',
  apply: '適用',
  connecting: (host) => `${host} に接続しています…`,
  connected: (host, model) => `${host} に接続しました。${model} が回答します。`,
  disconnect: '切断',
  cancel: 'キャンセル',
  noAddress: 'サーバーのアドレスを入力してください。例: http://localhost:8080/v1',
  holdsSecret:
    'アドレスにユーザー名、パスワード、クエリ、フラグメントを含めないでください。キーには専用の欄があります。',
  badRule: '0 以上の整数のトークン数を入力してください。',
  ask: (host) => `入力した内容を ${host} に送信しますか？`,
  asks: {
    remote: (host) =>
      `このページの代わりに ${host} が回答します。メッセージ、これまでの会話、添付したテキストがそこに送られ、サーバーの運営者はそれらを読むことができます。`,
    loaded: (host) =>
      `このページのモデルが読み込まれるまで、またそのモデルが失敗したときに、${host} が回答します。その際、メッセージ、これまでの会話、添付したテキストがそこに送られ、サーバーの運営者はそれらを読むことができます。`,
    longer: (host, tokens) =>
      `${tokens} トークンを超える会話には、またこのページのモデルが失敗したときには、${host} が回答します。その際、メッセージ、これまでの会話、添付したテキストがそこに送られ、サーバーの運営者はそれらを読むことができます。`,
  },
  inTheClear: '接続は暗号化されていません。ネットワーク上の他人が読むことができます。',
  allow: '送信する',
  refuse: '何も送信しない',
  refused: (host) => `${host} には何も送信されません。`,
  refusedAll: (host) => `${host} には何も送信されません。そのため応答はありません。`,
  askAgain: '許可する',
  line: {
    remote: (host) => `入力した内容は ${host} に送られ、そこで回答されます。`,
    loaded: (host) => `モデルが読み込まれるまで ${host} が回答します。入力した内容はそこに送られます。`,
    here: (host) => `このページが回答します。モデルが失敗すると、会話は ${host} に送られます。`,
    longer: (host, tokens) => `${tokens} トークンを超える会話は ${host} に送られます。`,
  },
  lead: (host) => `${host} 上のモデルとのチャットです。入力した内容はそこに送られます。`,
  withdraw: '今後は送信しない',
  withdrawHelp: (host) => `入力した内容を ${host} に送ることを、このページに許可しています。`,
  failed: (host) => `${host} に接続できませんでした。`,
  next: {
    mixed: ({ host }) =>
      `このページは https: で読み込まれたため、ブラウザーは https: のサーバーかこのコンピューター上のサーバーにしか問い合わせを許しません。${host} に証明書を設定するか、http://localhost からページを開いてください。`,
    unreachable: ({ host, page }) =>
      `${host} が動作していて、アドレスが正しいか確認してください。正しい場合、このページが応答を読むことを許していない (CORS) 可能性があります。${page} を許可してください (vLLM: --allowed-origins)。`,
    noKey: 'サーバーのキーを入力してください。',
    wrongKey: 'キーとその権限を確認してください。',
    busy: 'しばらく待ってから再試行してください。',
    notFound: 'アドレスを確認してください。多くのサーバーでは /v1 で終わります。',
    failed: '再試行してください。再び失敗する場合、理由はサーバーのログにあります。',
    wrongKind: 'アドレスを確認してください。OpenAI のインターフェースを持つサーバーのもので、多くは /v1 で終わります。',
    model: 'サーバーのモデルから選んでください。',
    silent: 'サーバーがまだモデルを読み込んでいる可能性があります。後でもう一度お試しください。',
    other: 'アドレスを確認して再試行してください。',
  },
};
