// The package's second entry: defines <vivace-chat model="..."> and <vivace-metrics for="...">, for those who compose a page.

import { VivaceMetrics } from '../metrics/panel/metrics_panel';
import { VivaceChat } from '../ui/chat/chat';
import { giveModels } from './elements';
import { followChats } from './metrics_for';

giveModels(VivaceChat);
followChats(VivaceMetrics);

export { VivaceChat, VivaceMetrics };
