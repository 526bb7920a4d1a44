// embed_panel.js: <vivace-metrics> for pages with the script tag, which adds this one when the panel is wanted.

import { VivaceMetrics } from '../metrics/panel/metrics_panel';
import { followChats } from './metrics_for';

followChats(VivaceMetrics);
