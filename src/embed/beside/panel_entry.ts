// embed_panel.js: <vivace-metrics> for pages with the script tag. The tag's script adds this script on demand.

import { VivaceMetrics } from '../../metrics/panel/metrics_panel';
import { followChats } from '../elements/metrics_for';
import { showLanguage } from '../fetch/translations';

followChats(VivaceMetrics);
void showLanguage();
