// The texts of the panel in Japanese.

import type { PanelWords } from './panel_en';

export const panel: PanelWords = {
  toolbar: {
    title: 'トークン間の時間',
    invitation: 'メッセージを送ると、トークン間の時間がリアルタイムで表示されます。',
    titleHelp: 'TBT: トークンが届いた間隔 (ミリ秒)。まとまって届いた分もならしません。',
    running: '実行中',
    log: '対数',
    logHelp: 'ミリ秒を対数目盛で表示',
    pin: '固定',
    pinHelp: 'この実行をグラフに残し、以後の実行と比較します',
    saveJson: 'この実行を JSON で保存',
    saveCsv: 'この実行を CSV で保存',
    pinWhenOver: '実行は終了後に固定できます',
    isPinned: 'この実行は固定済みです',
    pinsAreFull: (n) => `${n} 件の実行が固定されています。先に 1 件を解除してください`,
  },
};
