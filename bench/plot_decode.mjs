// `node bench/plot_decode.mjs RESULTS.json OUT.svg [--shape NAME]`: a picture of what `bench -- decode --sweep --json` measured.

import { plotDecode } from './terminal/decode_plot.mjs';
import { plotFile } from './terminal/plot_file.mjs';

plotFile('node bench/plot_decode.mjs', plotDecode);
