// `node bench/plot_attention.mjs RESULTS.json OUT.svg [--shape NAME]`: a picture of what `bench -- attention --json` measured.

import { plotAttention } from './terminal/attention_plot.mjs';
import { plotFile } from './terminal/plot_file.mjs';

plotFile('node bench/plot_attention.mjs', plotAttention);
