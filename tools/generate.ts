// `npm run --silent generate -- --prompt TEXT`: the engine in headless Chromium, text to stdout as it comes, then the
// TBT table. Exit code 0 for an answer, 1 for a typed error, 2 for a command line that cannot be understood, 130 after
// Ctrl-C.

import type { LoadProgress } from '../src/engine/protocol';
import { ensureBuilt } from './lib/dist';
import { type GenerateFlags, generateUsage, readGenerateFlags, toRequest } from './lib/generate_flags';
import { generateInPage } from './lib/generate_in_page';
import { table } from './lib/report';
import { orFailure, orUsage, rewriteLine, stopOnInterrupt } from './lib/terminal';

function showProgress({ stage, loadedBytes, totalBytes }: LoadProgress): void {
  const share = totalBytes > 0 ? ` ${Math.floor((100 * loadedBytes) / totalBytes)} %` : '';
  rewriteLine(stage === 'ready' ? '' : `Loading: ${stage}${share}`);
}

async function answer(flags: GenerateFlags): Promise<void> {
  const listener = flags.json
    ? {}
    : { onText: (text: string) => void process.stdout.write(text), onProgress: showProgress };
  await ensureBuilt();
  const run = await generateInPage(toRequest(flags), listener, stopOnInterrupt);
  console.log(flags.json ? JSON.stringify(run.report) : `\n\n${table(run)}`);
}

await orUsage(generateUsage(), async () => {
  const flags = readGenerateFlags(process.argv.slice(2));
  if (flags.help) console.log(generateUsage());
  else await orFailure(flags.json === true, () => answer(flags));
});
