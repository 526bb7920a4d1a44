// One generation in headless Chromium: serves the built engine and a local model, and hands back the runs.

import path from 'node:path';
import type { LoadProgress } from '../../../src/engine/protocol';
import type { GenerateRequest, Run } from '../../page/generate';
import { runInPage } from '../browser/blank_page';
import { DIST } from '../bundle/dist';
import { locateModel } from '../locate_model';
import type { Piece } from './transcript';

/** The files that the tasks of tools/page need. */
export const PAGE_MOUNTS = { '/lib/': path.join(DIST, 'lib'), '/tools.js': path.join(DIST, 'tools.js') };

/** Callbacks for the pieces of answers and for progress while the page works. */
export interface Listener {
  onPieces?: (pieces: readonly Piece[]) => void;
  onProgress?: (progress: LoadProgress) => void;
}

/** A request with the model as typed on the command line. */
export type TypedRequest = Omit<GenerateRequest, 'model' | 'streams'> & { model: string | undefined };

/**
 * One run for each answer.
 * @param onStoppable gets a function that ends the answer early
 */
export async function generateInPage(
  request: TypedRequest,
  listener: Listener,
  onStoppable?: (stop: () => void) => void,
): Promise<Run[]> {
  const { url, mounts } = locateModel(request.model);
  const { answer } = await runInPage<{ runs: Run[] }>({
    script: '/tools.js',
    mounts: { ...PAGE_MOUNTS, ...mounts },
    request: { task: 'generate', ...request, model: url, streams: Boolean(listener.onPieces) },
    onTold({ pieces, progress }: { pieces?: readonly Piece[]; progress?: LoadProgress }) {
      if (pieces !== undefined) listener.onPieces?.(pieces);
      if (progress !== undefined) listener.onProgress?.(progress);
    },
    onStoppable,
  });
  return answer.runs;
}
