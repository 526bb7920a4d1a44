// `npm run --silent generate -- --prompt TEXT`: the engine in headless Chromium, text to stdout as it comes, thinking
// to stderr, then the TBT table. Exit code 0 for an answer, 1 for a typed error, 2 for a command line that cannot be
// understood, 130 after Ctrl-C.

import type { LoadProgress } from '../src/engine/protocol';
import { ensureBuilt } from './lib/bundle/dist';
import { harmless, orFailure, orUsage, rewriteLine, stopOnInterrupt } from './lib/command_line/terminal';
import { readConstraint } from './lib/generate/constraint_files';
import { readConversation, readToolList } from './lib/generate/conversation_files';
import { type GenerateFlags, generateUsage, readGenerateFlags, toRequest } from './lib/generate/generate_flags';
import { generateInPage, type TypedRequest } from './lib/generate/generate_in_page';
import { table } from './lib/generate/report';
import type { Piece } from './lib/generate/transcript';

function showProgress({ stage, loadedBytes, totalBytes }: LoadProgress): void {
  const share = totalBytes > 0 ? ` ${Math.floor((100 * loadedBytes) / totalBytes)} %` : '';
  rewriteLine(stage === 'ready' ? '' : `Loading: ${stage}${share}`);
}

/** The answer goes to stdout, so that it can be piped; thinking and complaints to stderr. */
function show(pieces: readonly Piece[]): void {
  const dim = (text: string) => (process.stderr.isTTY ? `\x1b[2m${text}\x1b[22m` : text);
  for (const [channel, text] of pieces) {
    if (channel === 'answer') process.stdout.write(harmless(text, process.stdout));
    else {
      const shown = harmless(text, process.stderr);
      process.stderr.write(channel === 'thinking' ? dim(shown) : shown);
    }
  }
}

/** The request with what its files hold. */
function withFiles(flags: GenerateFlags): TypedRequest {
  const { messages, tools } = flags;
  const request = toRequest(flags);
  const constraint = readConstraint(flags);
  return {
    ...request,
    options: constraint ? { ...request.options, constraint } : request.options,
    messages: messages === undefined ? undefined : readConversation(messages),
    settings: tools === undefined ? request.settings : { ...request.settings, tools: readToolList(tools) },
  };
}

async function answer(flags: GenerateFlags): Promise<void> {
  const listener = flags.json ? {} : { onPieces: show, onProgress: showProgress };
  const request = withFiles(flags);
  await ensureBuilt();
  const runs = await generateInPage(request, listener, stopOnInterrupt);
  if (!flags.json) console.log(harmless(`\n\n${runs.map(table).join('\n\n')}`, process.stdout));
  else {
    const reports = runs.map(({ report }) => report);
    console.log(JSON.stringify(reports.length === 1 ? reports[0] : { choices: reports }));
  }
}

await orUsage(generateUsage(), async () => {
  const flags = readGenerateFlags(process.argv.slice(2));
  if (flags.help) console.log(generateUsage());
  else await orFailure(flags.json === true, () => answer(flags));
});
