// The package's second entry: defines the elements <vivace-chat model="..."> and <vivace-metrics for="...">.

import { VivaceMetrics } from '../metrics/panel/metrics_panel';
import { VivaceChat } from '../ui/chat/chat';
import { giveModels } from './elements';
import { followChats } from './metrics_for';

giveModels(VivaceChat);
followChats(VivaceMetrics);

export { VivaceChat, VivaceMetrics };
