// The one model to recommend on a machine: the largest that fits comfortably and runs as fast as people read. Pure.

import type { CatalogueModel } from '../list/catalogue';
import type { Experience } from './experience';
import { fitOf } from './fit';
import type { Machine } from './machine';
import { READING_SPEED, speedOf } from './speed';

/** Memory that is comfortable where no speed is known: a larger model may be slow, and is a long download. */
const COMFORTABLE = 2e9;

/** Null if no model fits. Models that only tell stories are never recommended. */
export function recommend(
  models: readonly CatalogueModel[],
  machine: Machine,
  seen: Experience,
): CatalogueModel | null {
  const able = models
    .filter(({ tellsStories }) => !tellsStories)
    .map((model) => ({ model, fit: fitOf(model, machine, seen), speed: speedOf(model, machine, seen) }))
    .filter(({ fit }) => fit.verdict !== 'no')
    .sort((a, b) => a.model.parameters - b.model.parameters);
  const isQuick = machine.gpu === 'hardware';
  const comfortable = able.filter(({ fit, speed }) => {
    if (fit.verdict === 'unsure') return false;
    return speed ? speed.wordsPerSecond >= READING_SPEED : isQuick && fit.needBytes <= COMFORTABLE;
  });
  return (comfortable.at(-1) ?? able.at(0))?.model ?? null;
}
