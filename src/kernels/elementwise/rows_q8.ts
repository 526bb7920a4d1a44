// The shader pieces that write rows of keys and values in signed bytes: a part that comes with the first load that asks
// for them.

import kvQ8 from '../../../shaders/attention/kv/kv_q8.wgsl?raw';
import putRowsQ8 from '../../../shaders/linear/epilogues/put_rows_q8.wgsl?raw';
import rotaryHeads from '../../../shaders/linear/epilogues/rotary_heads.wgsl?raw';

/** The pieces of put_pair and put_head. */
export const ROW_LIBRARIES: readonly string[] = [kvQ8, rotaryHeads, putRowsQ8];
