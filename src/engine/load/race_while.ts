// The race of a load, whose figures it keeps. A part of its own, because few loads race.

import type { Gpu } from '../../gpu/device';
import { raceKey, storeProfile } from '../../tune/profile/profile_store';
import { race } from '../../tune/race/race';
import type { RaceShape } from '../../tune/race/race_shape';
import type { Race } from '../../tune/results';
import type { Warning } from '../protocol';

/**
 * Races while `reading` reads the weights. A race without a result is a warning with the reason, and the next load
 * races again.
 * @throws the failure of the device or of `reading`; the reason of `signal`
 */
export async function raceWhile(
  gpu: Gpu,
  { signal, warnings }: { signal: AbortSignal; warnings: Warning[] },
  shape: RaceShape,
  reading: Promise<unknown>,
  run = race,
): Promise<Race | string> {
  const racing = run(gpu, shape, signal);
  racing.catch(() => {}); // reading may fail first
  const result = await Promise.race([racing, reading.then(() => racing)]);
  if (typeof result === 'string') {
    const message = `q8 was not raced against f32: ${result}. Products of integers run in q8; the next load races again.`;
    warnings.push({ code: 'race-failed', message });
  } else {
    const { clock, decode, prefill } = result;
    void storeProfile(gpu, { race: { [raceKey(shape)]: { clock, decode, prefill } } });
  }
  return result;
}
