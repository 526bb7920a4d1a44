// The state of a model's card: whether it can be got, is on its way, is here or runs. Pure.

import type { CachedModel } from '../../engine/engine';
import type { CatalogueModel } from './list/catalogue';
import type { Loading, Offers } from './offers';

export type CardState =
  | { readonly kind: 'get' | 'downloaded' | 'running' }
  /** Parts of it are here. */
  | { readonly kind: 'resume'; readonly percent: number }
  /** On its way; the percentage is null while it opens. */
  | { readonly kind: 'loading'; readonly percent: number | null };

export function cardState(
  model: CatalogueModel,
  { kept, running, loading }: Pick<Offers, 'kept' | 'running' | 'loading'>,
): CardState {
  const { location } = model;
  if (loading?.location === location) return { kind: 'loading', percent: percentOf(loading) };
  if (running === location) return { kind: 'running' };
  const here = keptOf(model, kept);
  if (!here || here.bytes === 0) return { kind: 'get' };
  if (here.isComplete) return { kind: 'downloaded' };
  return { kind: 'resume', percent: partOf(here.bytes, here.totalBytes ?? model.downloadBytes) };
}

/** The downloaded copy of a model, if there is any. */
export function keptOf({ location }: CatalogueModel, kept: Offers['kept']): CachedModel | null {
  return kept?.find((each) => each.location === location) ?? null;
}

function percentOf({ loadedBytes, totalBytes }: Loading): number | null {
  return totalBytes > 0 ? Math.min(100, Math.floor((100 * loadedBytes) / totalBytes)) : null;
}

/** An incomplete model is at most 99 % here. */
function partOf(bytes: number, totalBytes: number): number {
  return Math.min(99, Math.floor((100 * bytes) / totalBytes));
}
