// One generation in headless Chromium: serves the built engine and a local model, and hands back the run.

import path from 'node:path';
import type { LoadProgress } from '../../src/engine/protocol';
import type { GenerateRequest, Run } from '../page/generate';
import { runInPage } from './blank_page';
import { DIST } from './dist';
import { locateModel } from './locate_model';

/** The files that the tasks of tools/page need. */
export const PAGE_MOUNTS = { '/lib/': path.join(DIST, 'lib'), '/tools.js': path.join(DIST, 'tools.js') };

/** Callbacks for text and progress while the page works. */
export interface Listener {
  onText?: (text: string) => void;
  onProgress?: (progress: LoadProgress) => void;
}

/** A request with the model as typed on the command line. */
export type TypedRequest = Omit<GenerateRequest, 'model' | 'streams'> & { model: string | undefined };

/** @param onStoppable gets a function that ends the answer early */
export async function generateInPage(
  request: TypedRequest,
  listener: Listener,
  onStoppable?: (stop: () => void) => void,
): Promise<Run> {
  const { url, mounts } = locateModel(request.model);
  const { answer } = await runInPage<{ run: Run }>({
    script: '/tools.js',
    mounts: { ...PAGE_MOUNTS, ...mounts },
    request: { task: 'generate', ...request, model: url, streams: Boolean(listener.onText) },
    onTold({ text, progress }: { text?: string; progress?: LoadProgress }) {
      if (text !== undefined) listener.onText?.(text);
      if (progress !== undefined) listener.onProgress?.(progress);
    },
    onStoppable,
  });
  return answer.run;
}
