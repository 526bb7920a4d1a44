// The package's second entry: defines the elements <vivace-chat model="..."> and <vivace-metrics for="...">.

import { VivaceMetrics } from '../../metrics/panel/metrics_panel';
import { VivaceChat } from '../../ui/chat/chat';
import '../../ui/chat/chat_dialogs';
import { useLanguage } from '../../words/language';
import { askedLanguage, askLanguage } from '../fetch/shared_texts';
import { importTexts } from '../package_parts';
import { provideServerPart } from '../server/server_part';
import { giveModels } from './elements';
import { followChats } from './metrics_for';

provideServerPart(async () => (await import('../server/served_chat')).part);

giveModels(VivaceChat, (by, asked) => {
  askLanguage(by, asked);
  return useLanguage(askedLanguage(), importTexts);
});
followChats(VivaceMetrics);

export type { MetricsEvents } from '../../metrics/panel/metrics_events';
export type { ChatEvents } from '../../ui/chat/chat_events';
export { VivaceChat, VivaceMetrics };
