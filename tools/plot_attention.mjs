// `node tools/plot_attention.mjs RESULTS.json OUT.svg [--shape NAME]`: a picture of what `bench -- attention --json` measured.

import { plotAttention } from './lib/bench_plot.mjs';
import { plotFile } from './lib/bench_plot_file.mjs';

plotFile('node tools/plot_attention.mjs', plotAttention);
