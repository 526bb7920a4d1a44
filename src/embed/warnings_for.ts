// Which warnings of the engine a visitor reads. Those that name a kernel or a decode step are for who may choose them.

import type { Warning } from '../engine/engine';
import type { EmbedOptions } from './options';

const OF_KERNELS = /^(?:attention|step)-/;

/** @param settings what the visitor may change */
export function warningsFor(settings: EmbedOptions['settings'], warnings: readonly Warning[]): readonly Warning[] {
  return settings === 'all' ? warnings : warnings.filter(({ code }) => !OF_KERNELS.test(code));
}
