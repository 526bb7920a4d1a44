// `node tools/plot_decode.mjs RESULTS.json OUT.svg [--shape NAME]`: a picture of what `bench -- decode --sweep --json` measured.

import { plotDecode } from './lib/bench_decode_plot.mjs';
import { plotFile } from './lib/bench_plot_file.mjs';

plotFile('node tools/plot_decode.mjs', plotDecode);
