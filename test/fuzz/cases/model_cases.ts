// Whole models as dropped, with one file changed, through every step of a load before the weights.

import { readConfig } from '../../../src/model/config/read';
import { resolveTensors } from '../../../src/model/weights/tensors';
import { openModel } from '../../../src/storage/model_file';
import { splitGguf } from '../../storage/split_file';
import { writeGguf } from '../../storage/write_gguf';
import { byteLevelJson } from '../../text/tiny_vocabulary';
import { FIXTURES, type Fixture } from '../fixtures';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import { GGUF_SPECS } from '../tiny_model';
import { withLies } from './gguf_cases';
import { jsonBytes } from './json_cases';
import { mutateBytes } from './mutate_bytes';
import { TEMPLATES } from './template_grammar';
import { use } from './tokenizer_cases';

const VALID_GGUFS = GGUF_SPECS.map((spec) => writeGguf(spec));
const SIDE_FILES: readonly [name: string, content: unknown][] = [
  ['tokenizer.json', byteLevelJson()],
  ['tokenizer_config.json', { eos_token: '<|end|>' }],
  ['generation_config.json', { eos_token_id: 1 }],
  ['chat_template.jinja', TEMPLATES[2]],
];

interface Part {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const SPLIT = Object.entries(splitGguf(VALID_GGUFS[0], 'x', 3)).map(([name, bytes]) => ({
  name,
  bytes: bytes.slice(),
}));
const FOLDERS: readonly Part[][] = [...(await Promise.all(FIXTURES.map(partsOf))), SPLIT, SPLIT, SPLIT];

export const modelLoader: Loader<Part[]> = {
  name: 'model',
  makeInput: (random) => (random.chance(0.4) ? [ggufFile(random)] : folder(random)),
  prepare(parts) {
    const files = parts.map(({ name, bytes }) => new File([bytes], name));
    return async () => {
      const model = await openModel(files);
      resolveTensors(model, readConfig(model));
      use(model);
    };
  },
};

async function partsOf({ files }: Fixture): Promise<Part[]> {
  const own = files.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }));
  const side = SIDE_FILES.map(([name, content]) => ({ name, bytes: utf8(content) }));
  return [...(await Promise.all(own)), ...side];
}

function utf8(content: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(typeof content === 'string' ? content : JSON.stringify(content));
}

function ggufFile(random: Random): Part {
  const i = random.int(GGUF_SPECS.length);
  const bytes = random.chance(0.6) ? writeGguf(withLies(random, GGUF_SPECS[i])) : mutateBytes(random, VALID_GGUFS[i]);
  return { name: 'x.gguf', bytes };
}

function folder(random: Random): Part[] {
  const parts = random.pick(FOLDERS);
  const chosen = random.int(parts.length);
  const rename = random.chance(0.05);
  return parts.flatMap(({ name, bytes }, i) => {
    if (i !== chosen) return [{ name, bytes }];
    if (rename) return random.chance(0.5) ? [] : [{ name: random.pick(parts).name, bytes }];
    return [{ name, bytes: changed(random, name, bytes) }];
  });
}

function changed(random: Random, name: string, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (!name.endsWith('.json') || random.chance(0.3)) return mutateBytes(random, bytes);
  return jsonBytes(random, JSON.parse(new TextDecoder().decode(bytes)));
}
