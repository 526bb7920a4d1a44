// Reads the document of a run from a file or from the browser's storage, both untrusted. Pure.

import type { Place, RunReport } from '../../engine/engine';
import { isJsonObject } from '../../shared/json_object';
import { UNIQUE_ID } from '../../shared/unique_id';
import {
  attention,
  backend,
  cache,
  finishReason,
  id,
  info,
  letters,
  logprobs,
  MAX_TOKENS,
  milliseconds,
  network,
  perToken,
  recoveries,
  roofline,
  step,
  summary,
  tokenId,
  usage,
  warnings,
} from './engine_checks';
import {
  type Check,
  fields,
  list,
  matching,
  number,
  oneOf,
  optional,
  orNull,
  RunFileError,
  text,
  whole,
  yesOrNo,
} from './run_checks';
import { MARK, type Mark, type PlaceStart } from './run_data';
import { MAX_MARKS, RUN_FORMAT, RUN_VERSION, type RunDocument, type TokenColumns } from './run_document';
import type { RunSettings } from './run_origin';

/** Most bytes of a file. A run that fills the longest context has about 15 MB. */
export const MAX_RUN_BYTES = 32_000_000;
const MAX_SETTINGS = 64;
export const MAX_NAME = 200;
/** The last moment of a Date. */
const MAX_TIME = 8.64e15;

const all = text(MAX_RUN_BYTES);
const column = <T>(check: Check<T>) => list(check, MAX_TOKENS);
const time = number(0, MAX_TIME);

const columns = fields<TokenColumns>({
  text: column(all), // a server may send all of an answer at once
  position: column(whole(1e9)),
  atMs: column(time),
  tbtMs: column(orNull(milliseconds)),
  inFlightMs: column(milliseconds),
  workerMs: column(orNull(milliseconds)),
  receivedMs: column(milliseconds),
  paintedMs: column(orNull(milliseconds)),
  pipelines: column(whole(1e6)),
  othersMs: optional(column(milliseconds)),
});

const labels = Object.fromEntries(Object.values(MARK).map((label) => [label, true])) as Record<string, true>;
const marks = list(fields<Mark>({ afterToken: whole(MAX_TOKENS), atMs: time, label: oneOf(labels) }), MAX_MARKS);

const places = list(
  fields<PlaceStart>({ afterToken: whole(MAX_TOKENS), place: oneOf<Place>({ local: true, remote: true }) }),
  MAX_MARKS,
);

const date: Check<string> = (value, name) => {
  const found = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/, 'a time as ISO 8601')(value, name);
  if (Number.isNaN(Date.parse(found))) throw new RunFileError(`This is not a valid run: ${name} is no date.`);
  return found;
};

const sampling: Check<RunSettings> = (value, name) => {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const isSetting = ([key, setting]: [string, unknown]) =>
    /^[a-zA-Z]{1,40}$/.test(key) &&
    (typeof setting === 'string' ? setting.length <= 1000 : ['number', 'boolean'].includes(typeof setting));
  if (!isJsonObject(value) || entries.length > MAX_SETTINGS || !entries.every(isSetting))
    throw new RunFileError(`This is not a valid run: ${name} is not a list of settings.`);
  return Object.fromEntries(entries) as RunSettings;
};

const call = fields<RunReport['toolCalls'][number]>({
  id: letters,
  name: letters,
  arguments: all,
  error: optional(letters),
  text: optional(all),
});

/** The fields of the report. */
const report = {
  model: orNull(letters),
  adapter: orNull(letters),
  backend: orNull(backend),
  attention: orNull(attention),
  step: orNull(step),
  promptIds: orNull(list(id, MAX_TOKENS)),
  ids: list(tokenId, MAX_TOKENS),
  text: all,
  reasoning: all,
  toolCalls: list(call, 1000),
  finishReason: orNull(finishReason),
  recoveries,
  warnings,
  ttftMs: orNull(milliseconds),
  prefillTokensPerSecond: orNull(number()),
  decodeTokensPerSecond: orNull(number()),
  tbtMs: orNull(summary),
  gpuMs: orNull(summary),
  perToken: orNull(perToken),
  runAhead: orNull(whole(1e6)),
  peakGpuBytes: orNull(number()),
};

/** The parts of a document that are read. Stalls are found again. */
export type ReadRun = Omit<RunDocument, 'stalls' | 'format' | 'version'>;

const document = fields<ReadRun>({
  id: matching(UNIQUE_ID, 'an id of 32 hexadecimal digits'),
  name: text(MAX_NAME),
  date,
  vivace: text(100),
  browser: text(1000),
  system: text(1000),
  cores: orNull(whole(1e6)),
  address: orNull(text(4000)),
  sampling: orNull(sampling),
  seed: orNull(number()),
  usage: orNull(usage),
  isFirst: yesOrNo,
  ...report,
  tokenizeMs: orNull(milliseconds),
  prefillMs: orNull(milliseconds),
  batchSize: optional(whole(1e6)),
  cache: optional(cache),
  network: optional(network),
  prefill: orNull(fields({ done: whole(1e9), total: whole(1e9) })),
  places: optional(places),
  tokens: columns,
  marks,
  info: orNull(info),
  roofline: orNull(roofline),
  logprobs: optional(logprobs),
});

/**
 * A valid copy of a document, in time proportional to the size of the value.
 * @throws RunFileError
 */
function parseRun(value: unknown): ReadRun {
  if (!isJsonObject(value) || value.format !== RUN_FORMAT)
    throw new RunFileError('This file is not a run that Vivace exported.');
  if (value.version !== RUN_VERSION) {
    const message = 'This run comes from a newer version of Vivace. Reload the page to get that version.';
    throw new RunFileError(message, 'conversation-version'); // its translation speaks of the file alone
  }
  const run = document(value, '');
  const { tokens, ids, text: whole } = run;
  const n = ids.length;
  if (
    Object.values(tokens).some((values: readonly unknown[]) => values.length !== n) ||
    (run.logprobs?.length ?? n) !== n
  )
    throw new RunFileError('This is not a valid run: its lists of tokens differ in length.');
  if (tokens.position.some((position, i) => i > 0 && position < (tokens.position[i - 1] ?? 0)))
    throw new RunFileError('This is not a valid run: the positions of its tokens do not ascend.');
  if (run.places?.some(({ afterToken }, i, all) => i > 0 && afterToken < (all[i - 1]?.afterToken ?? 0)))
    throw new RunFileError('This is not a valid run: its places do not ascend.');
  if (!whole.startsWith(tokens.text.join('')))
    throw new RunFileError('This is not a valid run: its text is not that of its tokens.');
  return run;
}

/** The run of a file's text. @throws RunFileError */
export function readRun(file: string): ReadRun {
  if (file.length > MAX_RUN_BYTES) throw new RunFileError('This file is too large for a run.');
  const format = /^\s*\{\s*"format"\s*:\s*"([^"]+)/.exec(file)?.[1]; // also of a file that was cut
  if (format === 'vivace-conversations')
    throw new RunFileError('This file is not a run. It holds conversations: import it in their list.', format);
  let value: unknown = null;
  try {
    value = JSON.parse(file);
  } catch {
    if (format === RUN_FORMAT)
      throw new RunFileError('This file is incomplete or damaged. Export it again, or copy it again.', 'file-cut');
  }
  return parseRun(value);
}
